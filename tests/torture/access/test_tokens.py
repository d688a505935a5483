"""Without a valid token nothing is read or done through the gateway, nor told apart from what does not exist.

Every route of the template; the twins are gateways that leave out one check each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from local.gateway.server import ApiGateway
from local.gateway.tokens import Tokens
from tests.support.api.client import TOKENS, invoke, template
from tests.torture.access.calls import ApiRequest, ApiResponse, send_as, send_through
from tests.torture.access.invalid_tokens import Lax, Signer, no_tenants, no_tokens
from tests.torture.access.tenants import SHARED_CASE, SHARED_HOLDER
from tests.torture.access.two_tenants import Matrix
from tests.torture.access.valid_requests import requests_of

pytestmark = pytest.mark.slow

UNKNOWN_ID = 7_000_001


@dataclass
class Api:
    """A gateway with two tenants behind it; `invoked` are the functions that it called."""

    matrix: Matrix
    tokens: Tokens = TOKENS
    invoked: list[str] = field(default_factory=list)

    def send(self, request: ApiRequest, authorizations: Sequence[str]) -> ApiResponse:
        """Make a request with these Authorization headers."""
        return send_through(ApiGateway(template().routes, self._invoke, self.tokens), request, authorizations)

    def _invoke(self, function: str, event: dict[str, Any]) -> Any:
        self.invoked.append(function)
        return invoke(function, event)

    @property
    def signer(self) -> Signer:
        """Who signs the tokens that count."""
        return Signer.of(TOKENS._secret, TOKENS.issue(self.matrix.ours.name, self.matrix.ours.user))

    @property
    def routes(self) -> dict[str, ApiRequest]:
        """A request of one's own for every route of the template; a route without one fails."""
        found = {each.route: each for each in requests_of(self.matrix.ours)}
        assert {route.key for route in template().routes if not route.is_open} == set(found)
        return found

    def answered(self, request: Sequence[ApiRequest], sent: dict[str, list[str]], allowed: int) -> list[str]:
        """The tokens that were answered otherwise than with that status, or not in the same way for every route."""
        wrong = []
        for name, authorizations in sent.items():
            found = {self.send(each, authorizations) for each in request}
            if {each.status for each in found} != {allowed} or len(found) > 1:
                wrong.append(name)
        return wrong

    def same_routes(self) -> Iterator[list[ApiRequest]]:
        """Yield the request of each route with one's own ids, another's, and ids that no tenant has."""
        theirs = {each.route: each for each in requests_of(self.matrix.theirs)}
        for route, request in self.routes.items():
            ids = {place: value for place, value in theirs[route].values.items() if place.startswith("path:")}
            yield [request, request.with_values(ids), request.with_values(dict.fromkeys(ids, UNKNOWN_ID))]


@pytest.fixture
def api(matrix: Matrix) -> Api:
    return Api(matrix)


def test_without_a_token_that_counts_no_route_does_or_tells_anything(api: Api) -> None:
    assert api.answered(list(api.routes.values()), no_tokens(api.signer), 401) == []
    assert api.invoked == []
    assert api.matrix.kept.changed(api.matrix.world.engine) == {}


def test_without_a_tenant_no_route_does_or_tells_anything(api: Api) -> None:
    sent = no_tenants(api.signer, api.matrix.ours.name)
    assert api.answered(list(api.routes.values()), sent, 403) == []
    assert api.matrix.kept.changed(api.matrix.world.engine) == {}


def test_who_is_refused_cannot_tell_what_there_is(api: Api) -> None:
    signer = api.signer
    refused = {401: no_tokens(signer)["expired"], 403: no_tenants(signer, api.matrix.ours.name)["tenant missing"]}
    for requests in api.same_routes():
        for status, authorizations in refused.items():
            [said] = {api.send(each, authorizations) for each in requests}
            assert said.status == status


def test_a_scheme_in_lower_case_and_a_number_for_a_tenant_mean_what_they_say(api: Api) -> None:
    request = ApiRequest("GET /imports", {})
    good, number = api.signer.sign(), api.signer.of_tenant(UNKNOWN_ID)
    assert api.send(request, [f"bearer {good}"]) == api.send(request, [f"BEARER {good}"])
    assert api.matrix.ours.mark in api.send(request, [f"bearer {good}"]).text
    assert api.send(request, [f"Bearer {number}"]).json == {"items": [], "next": None, "prev": None, "total": None}


def test_the_same_request_under_the_same_key_is_each_tenants_own(api: Api) -> None:
    said = {"body:case": SHARED_CASE, "body:name": SHARED_HOLDER, "header:Idempotency-Key": "of both"}
    matrix, tenants = api.matrix, (api.matrix.theirs, api.matrix.ours)
    request = ApiRequest("POST /custodians", said)
    first, again = ([send_as(request, each.name, each.user) for each in tenants] for _ in range(2))
    replayed = [dict(each.headers).get("x-idempotent-replayed") for each in (*first, *again)]
    assert replayed == [None, None, "true", "true"]
    assert [each.text for each in first] == [each.text for each in again]
    assert first[0].json["id"] != first[1].json["id"]
    matrix.kept.put_back(matrix.world.engine)


@pytest.mark.parametrize(
    ("unchecked", "found"),
    [
        (
            {"verify_signature": False, "verify_exp": False},
            {"alg none", "foreign secret", "another payload", "expired"},
        ),
        ({"verify_exp": False}, {"expired", "expired a day ago"}),
        ({"verify_nbf": False}, {"not valid yet"}),
        ({"verify_iat": False}, {"issued tomorrow"}),
        ({}, {"another issuer", "another audience", "no audience", "never expires"}),
    ],
    ids=["signature", "expiry", "begin", "issue", "issuer and audience"],
)
def test_a_gateway_that_leaves_out_a_check_is_found(api: Api, unchecked: dict[str, bool], found: set[str]) -> None:
    lax = Api(api.matrix, Lax(api.signer.secret, **unchecked))
    request = api.routes["GET /imports/{importId}"]
    sent = no_tokens(api.signer)
    assert found <= set(lax.answered([request], sent, 401))
    assert api.matrix.ours.mark in lax.send(request, sent[min(found)]).text
