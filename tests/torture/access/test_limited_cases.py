"""A caller who is limited to cases: every other case of the tenant is answered as what there is not.

Every request that the tenant may make, by its routes in docs/openapi.json, with all of its ids and names.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

import pytest

from core.caller import Caller
from core.errors import ForbiddenError
from shell.activities import queries as activity_queries
from shell.exhibits import case_list, cases, commands, custodians, named_lists, queries, similar_cases
from shell.imports import queries as import_queries
from shell.imports import uploads
from shell.productions import queries as production_queries
from tests.support.api.client import TOKENS, gateway
from tests.torture.access.attacks import comparable
from tests.torture.access.calls import ApiRequest, ApiResponse, send_through
from tests.torture.access.openapi_places import places
from tests.torture.access.tenants import SHARED_CASE
from tests.torture.access.two_tenants import Matrix
from tests.torture.access.valid_requests import requests_of
from tools.openapi import DOCUMENT

pytestmark = pytest.mark.slow

LISTS = {"GET /imports": "query:case", "GET /productions": "query:case", "GET /cases": "query:prefix"}
LISTS |= {"GET /activities": "query:case", "GET /exports": "query:case", "GET /custodians": "query:case"}
PLACES = ("query:case", "query:prefix", "query:name", "body:case")
WHOLE_TENANT = (
    *("/custody-periods", "/custody-transfers", "/custody-changes", "/profiles", "/devices", "/users"),
    "/operations",
)
ME = "GET /me"
PROFILES = {"body:profile", "query:profile"}
STRANGER = "stranger"
Expected = list[tuple[ApiRequest, ApiResponse]]
_PATHS = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
RESPONSES = {f"{m.upper()} {path}": each[m]["responses"] for path, each in _PATHS.items() for m in each}


def send(matrix: Matrix, request: ApiRequest, limit: Sequence[str] | None, tenant: str) -> tuple[ApiResponse, set[str]]:
    """The answer to a caller with that limit, and the tables but for the keys that it changed; all is put back."""
    token = TOKENS.issue(tenant, matrix.ours.user, cases=limit)
    response = comparable(send_through(gateway(), matrix.fresh(request), [f"Bearer {token}"]))
    return response, set(matrix.kept.put_back(matrix.world.engine)) - {"idempotency_keys"}


def case_of(request: ApiRequest) -> str | None:
    """The case that a request names; None where it names none."""
    return next((str(request.values[place]) for place in PLACES if place in request.values), None)


def expected_of(matrix: Matrix, request: ApiRequest) -> ApiResponse:
    """Return the response to a caller who is limited to the shared case: of others what a stranger gets."""
    ours = matrix.ours.name
    if request.route == ME:  # of the token alone
        return send(matrix, request, [SHARED_CASE], ours)[0]
    if case_of(request) == SHARED_CASE and "body:exhibitIds" not in request.values:
        return send(matrix, request, None, ours)[0]
    if request.route in LISTS and case_of(request) is None and "query:caseId" not in request.values:
        return send(matrix, request.with_values({LISTS[request.route]: SHARED_CASE}), None, ours)[0]
    return send(matrix, request, [SHARED_CASE], STRANGER)[0]


@pytest.fixture(scope="module")
def expected(matrix: Matrix) -> Expected:
    """Every request that the tenant may make, with the response to a caller who is limited to the shared case."""
    return [(request, expected_of(matrix, request)) for request in requests_of(matrix.ours)]


def violations(matrix: Matrix, expected: Expected, limit: Sequence[str] | None) -> Iterator[str]:
    """The requests that are answered otherwise to a caller of that limit, or that fail and change something."""
    for request, answer in expected:
        response, changed = send(matrix, request, limit, matrix.ours.name)
        if response != answer:
            yield f"{request.route} {request.values}: {response}"
        if response.status >= 400 and changed:
            yield f"{request.route}: changed {changed}"


def test_every_route_is_requested_for_another_case(matrix: Matrix) -> None:
    hidden = {each.route for each in requests_of(matrix.ours) if case_of(each) != SHARED_CASE}
    assert hidden == set(places())


def test_other_cases_are_answered_as_what_there_is_not_and_stay_as_they_are(matrix: Matrix, expected: Expected) -> None:
    assert list(violations(matrix, expected, [SHARED_CASE])) == []


def test_without_a_limit_every_route_tells_of_other_cases(matrix: Matrix, expected: Expected) -> None:
    """The negative control: for each route some request finds that there is no wall."""
    found = {each.partition(" {")[0].partition(":")[0] for each in violations(matrix, expected, None)}
    assert found == set(places())


@pytest.mark.parametrize("limit", [[], ["no such case"], [SHARED_CASE.upper() + "x"], ["\U0001f4a9"]])
def test_who_is_limited_to_no_case_of_the_tenant_finds_nothing(matrix: Matrix, limit: list[str]) -> None:
    for request in requests_of(matrix.ours):
        if request.route == ME:
            continue
        response, changed = send(matrix, request, limit, matrix.ours.name)
        assert (response, changed) == (send(matrix, request, limit, STRANGER)[0], set())
        found = response.json if response.status == 200 else {}
        assert response.status in (403, 404) or not (found.get("items") or found.get("exact") or found.get("similar"))
        assert str(response.status) in RESPONSES[request.route]


def test_custody_and_profiles_belong_to_no_case_and_are_closed(matrix: Matrix) -> None:
    names = [row.name for row in matrix.world.query("SELECT name FROM cases WHERE tenant_id = :t", t=matrix.ours.name)]
    for request in requests_of(matrix.ours):
        response, _ = send(matrix, request, [SHARED_CASE, *names, *matrix.ours.new_cases], matrix.ours.name)
        is_closed = request.route.partition(" ")[2].startswith(WHOLE_TENANT) or not PROFILES.isdisjoint(request.values)
        assert (response.status == 403) == is_closed, (request, response)
        assert response.status < 300 or is_closed, (request, response)


def test_a_key_of_another_case_replays_nothing(matrix: Matrix) -> None:
    response = {"body:case": matrix.ours.case, "body:name": "Wall", "header:Idempotency-Key": "wall"}
    request, answers = ApiRequest("POST /custodians", response), []
    for limit in (None, [SHARED_CASE], None):
        token = TOKENS.issue(matrix.ours.name, matrix.ours.user, cases=limit)
        answers.append(send_through(gateway(), request, [f"Bearer {token}"]))
    matrix.kept.put_back(matrix.world.engine)
    assert [each.status for each in answers] == [200, 422, 200]
    assert dict(answers[2].headers)["x-idempotent-replayed"] == "true"


def _nothing(*_arguments: Any) -> list[Any]:
    return []


def _unlimited(_caller: Caller) -> dict[str, Any]:
    return {"is_limited": False, "cases": []}


WALLS: list[tuple[ModuleType, str, Any]] = [
    (queries, "build_wall", _nothing),
    (case_list, "build_wall", _nothing),
    (commands, "build_wall", _nothing),
    *((module, "build_wall", _nothing) for module in (cases, similar_cases, named_lists)),
    (production_queries, "build_wall", _nothing),
    (activity_queries, "build_wall", _nothing),
    (import_queries, "wall_values", _unlimited),
    *((module, "require_case", _nothing) for module in (cases, case_list, custodians, uploads)),
]


@pytest.mark.parametrize(
    ("module", "name", "without"), WALLS, ids=lambda each: getattr(each, "__name__", str(each)).rpartition("shell.")[2]
)
def test_a_wall_that_is_left_out_is_found(
    matrix: Matrix, expected: Expected, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, without: Any
) -> None:
    monkeypatch.setattr(module, name, without)
    assert next(violations(matrix, expected, [SHARED_CASE]), None) is not None


# Text that names no cases, among it a list as API Gateway passes it.
NO_LISTS = ["", "Smith v. Jones", "[Smith v. Jones]", "{}", '"Case"', "[1]", "[null]", '[["Case"]]', "true", '["Case"']


@pytest.mark.parametrize("claim", NO_LISTS)
def test_a_claim_that_is_not_a_list_of_names_admits_no_caller(claim: str) -> None:
    claims = {"tenant": "acme", "sub": "ada", "cases": claim}
    with pytest.raises(ForbiddenError, match="JSON array"):
        Caller.from_claims(claims, "tenant", "cases")


def test_a_claim_names_cases_exactly_and_none_is_no_limit() -> None:
    claims = {"tenant": "acme", "sub": "ada"}
    assert Caller.from_claims(claims, "tenant", "cases").cases is None
    named = {**claims, "cases": '["Smith v. Jones", "M\\u00fcller"]'}
    assert Caller.from_claims(named, "tenant", "cases").cases == frozenset({"Smith v. Jones", "Müller"})
    assert Caller.from_claims({**claims, "cases": "[]"}, "tenant", "cases").cases == frozenset()
