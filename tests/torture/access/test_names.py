"""Names in requests and in the claim of the cases are compared byte for byte, on every route.

The database is more generous: its collations ignore trailing spaces, and some case, accents and width. Names of
custodians and tags are the exception: those that the database takes for one are one, wherever they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest

from shell.exhibits import cases
from tests.support.api.client import TOKENS, gateway
from tests.torture.access.attacks import comparable
from tests.torture.access.calls import ApiRequest, ApiResponse, send_through
from tests.torture.access.openapi_places import places
from tests.torture.access.tenants import SHARED_CASE
from tests.torture.access.two_tenants import STRANGER, Matrix
from tests.torture.access.valid_requests import requests_of

pytestmark = pytest.mark.slow

CASES = {"query:case", "body:case"}
# Of a case or of the whole tenant: what has no such name is answered as if nothing had it.
NAMES = {"query:controlNumber", "query:name", "query:profile", "body:profile"}
# What the token or nothing in the database decides.
WITHOUT_CASE = {"GET /me", "GET /users"}
# Their answers depend on the name: similar ones, and an id with its hash.
BY_NAME = {"GET /cases/similar", "POST /previews"}
UNKNOWN = "nothing has this name"
OfStrangers = list[tuple[ApiRequest, tuple[ApiResponse, set[str]]]]


def lookalikes(name: str) -> Iterator[str]:
    """Yield other names that a database, a person or a client may take for this one."""
    yield from (f"{name} ", f"{name}   ", f" {name}", f"{name}\u00a0", f"{name}\u3000", f"{name}\u200b")
    yield from (name.upper(), name.lower(), name.swapcase())
    yield name.replace("o", "\u00f6", 1).replace("a", "\u00e4", 1).replace("S-", "\u015a-", 1)
    yield name + "\u0301"
    yield "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in name)


def send(
    matrix: Matrix, request: ApiRequest, tenant: str, claim: list[str] | None = None
) -> tuple[ApiResponse, set[str]]:
    """Return the answer, and the tables that the request changed; all is put back."""
    token = TOKENS.issue(tenant, matrix.ours.user, cases=claim)
    response = comparable(send_through(gateway(), matrix.fresh(request), [f"Bearer {token}"]))
    return response, set(matrix.kept.put_back(matrix.world.engine))


@pytest.fixture(scope="module")
def of_strangers(matrix: Matrix) -> OfStrangers:
    """Every request that the tenant may make, with what one that has nothing gets."""
    return [(request, send(matrix, request, STRANGER, [UNKNOWN])) for request in requests_of(matrix.ours)]


@pytest.mark.parametrize("name", sorted(set(lookalikes(SHARED_CASE)) - {SHARED_CASE}))
def test_a_claim_of_a_lookalike_opens_no_case(matrix: Matrix, of_strangers: OfStrangers, name: str) -> None:
    for request, expected in of_strangers:
        response, changed = send(matrix, request, matrix.ours.name, [name])
        is_of_token = request.route in WITHOUT_CASE
        assert is_of_token or (response, changed) == expected, request
        is_empty = is_of_token or response.json.get("items", response.json.get("similar")) == []
        assert response.status in (403, 404) or is_empty, request


@pytest.mark.parametrize(("chosen", "is_limited"), [(CASES, False), (CASES, True), (NAMES, False)])
def test_a_lookalike_in_a_request_is_answered_as_an_unknown_name(
    matrix: Matrix, chosen: set[str], is_limited: bool
) -> None:
    tried = set()
    for request, place in _list_places(matrix, chosen):
        expected = _send_name(matrix, request, place, UNKNOWN, is_limited)
        exact = str(request.values[place])
        for name in sorted(set(lookalikes(exact)) - {exact}):
            found = _send_name(matrix, request, place, name, is_limited)
            # A name that nothing can have, such as one that ends in a space, may be refused before it is looked up.
            is_refused = found[0].status == 400 and not (name.isprintable() and name == name.strip())
            assert found == expected or is_refused, (request, name)
        tried.add((request.route, place))
    assert tried == {
        (route, place) for route, known in places().items() for place in known & chosen if route not in BY_NAME
    }


def _list_places(matrix: Matrix, chosen: set[str]) -> Iterator[tuple[ApiRequest, str]]:
    """Yield every request that has a name at one of the places, with the place."""
    for request in requests_of(matrix.ours):
        if request.route not in BY_NAME and "body:createCase" not in request.values:
            yield from ((request, place) for place in sorted(chosen & request.values.keys()))


def _send_name(
    matrix: Matrix, request: ApiRequest, place: str, name: str, is_limited: bool
) -> tuple[ApiResponse, set[str]]:
    """Return the answer with this name there, which is left out of it; the claim, if any, is the same name."""
    named, claim = request.with_values({place: name}), [name] if is_limited else None
    response, changed = send(matrix, named, matrix.ours.name, claim)
    return replace(response, text=response.text.replace(name, "name").replace(quote(name), "name")), changed


def test_a_wall_that_compares_as_the_database_does_is_found(
    matrix: Matrix, of_strangers: OfStrangers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control: with the collation of the column, a claim with a space at its end opens the case."""
    name = f"{SHARED_CASE} "
    monkeypatch.setattr(cases, "is_exactly", lambda column, values: column.in_(values))
    of_all = [each for each in of_strangers if not {"query:case", "query:caseId"} & each[0].values.keys()]
    request, expected = next(each for each in of_all if each[0].route == "GET /productions")
    assert send(matrix, request, matrix.ours.name, [name]) != expected
