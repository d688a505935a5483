"""What a token does not allow is refused before anything of the request is looked at, and claims that are required."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from core.caller import Caller
from core.errors import ForbiddenError
from core.roles import Role
from local.gateway.events import HttpRequest
from shell.settings import settings
from tests.support.api.client import TOKENS, gateway
from tools.openapi import DOCUMENT

PATHS = json.loads(DOCUMENT.read_text(encoding="utf-8"))["paths"]
# A route and its role.
MUTATING = [
    (f"{method.upper()} {path}", Role(operation["security"][0]["token"][0]))
    for path, operations in PATHS.items()
    for method, operation in operations.items()
    if method != "get"
]
BELOW = {Role.VIEWER: [], Role.EDITOR: ["viewer"], Role.ADMIN: ["editor"]}
# Body, media type and query, for each of which a request is refused where the role suffices.
INVALID = {
    "body": (b"{", "application/json", ""),
    "media type": (b"a=b", "application/x-www-form-urlencoded", ""),
    "repeated parameter": (b"", "application/json", "limit=1&limit=2"),
}


def send(
    route: str, token: str, body: bytes = b"", media: str = "application/json", query: str = ""
) -> tuple[int, dict[str, object]]:
    """The status and the problem document."""
    method, _, path = route.partition(" ")
    fields = {"host": "api.test", "authorization": f"Bearer {token}", "content-type": media}
    request = HttpRequest(method, re.sub(r"{\w+}", "1", path), query, list(fields.items()), body, "127.0.0.1")
    answer = gateway().handle(request)
    return answer.status, json.loads(answer.body)


@pytest.mark.usefixtures("environment")
@pytest.mark.parametrize("invalid", INVALID.values(), ids=INVALID)
def test_a_role_is_required_before_anything_of_a_request_is_validated(invalid: tuple[bytes, str, str]) -> None:
    assert len(MUTATING) > 20
    for route, role in MUTATING:
        status, problem = send(route, TOKENS.issue("acme", "ada", roles=BELOW[role]), *invalid)
        assert (status, problem.get("requiredRole")) == (403, role.value), route
        status, problem = send(route, TOKENS.issue("acme", "ada", roles=[role.value]), *invalid)
        assert status not in (200, 201, 403), f"the negative control: {route} {problem}"


@pytest.fixture
def required(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A deployment that requires the claim of the cases and a prefix of its roles."""
    monkeypatch.setenv("CASES_REQUIRED", "true")
    monkeypatch.setenv("ROLES_PREFIX", "exhibit-ingest:")
    settings.cache_clear()
    yield
    monkeypatch.undo()
    settings.cache_clear()


@pytest.mark.usefixtures("required")
def test_where_cases_are_required_a_token_without_them_is_refused_with_the_reason() -> None:
    roles = ["exhibit-ingest:admin"]
    for path, operations in PATHS.items():
        for method in operations:
            status, problem = send(f"{method.upper()} {path}", TOKENS.issue("acme", "ada", roles=roles))
            assert (status, problem["type"]) == (403, "urn:exhibit-ingest:problem:forbidden"), path
            assert "does not say which cases you may see" in str(problem["detail"])
    limited = TOKENS.issue("acme", "ada", roles=roles, cases=["Smith v. Jones"])
    assert send("POST /cases", limited, b"{")[0] == 400, "the negative control"
    assert send("POST /custody-periods", limited, b"{")[0] == 403


@pytest.mark.parametrize("required", [True, False])
def test_a_star_and_nothing_like_it_is_every_case(required: bool) -> None:
    claims = {"tenant": "acme", "sub": "ada"}
    assert Caller.from_claims(claims | {"cases": "*"}, "tenant", "cases", cases_required=required).cases is None
    named = Caller.from_claims(claims | {"cases": '["*"]'}, "tenant", "cases", cases_required=required)
    assert named.cases == frozenset({"*"}), "a case of that name"
    for other in ("[*]", '"*"', "**", " *", ""):
        with pytest.raises(ForbiddenError):
            Caller.from_claims(claims | {"cases": other}, "tenant", "cases", cases_required=required)


@pytest.mark.usefixtures("required")
@pytest.mark.parametrize("groups", [["Site admin"], ["admin"], ["Site", "editor", "admin"]])
def test_with_a_prefix_the_groups_of_others_are_no_roles(groups: list[str]) -> None:
    token = TOKENS.issue("acme", "ada", roles=groups, cases=["Smith v. Jones"])
    assert send("POST /cases", token, b"{")[1]["requiredRole"] == "editor"
    prefixed = TOKENS.issue("acme", "ada", roles=[*groups, "exhibit-ingest:editor"], cases=["Smith v. Jones"])
    assert send("POST /cases", prefixed, b"{")[0] == 400
