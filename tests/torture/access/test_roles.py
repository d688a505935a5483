"""What each role may do, route by route: as docs/openapi.json says, and no route without a role.

The routes are those of the document, so that a new one is in the matrix as soon as it is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from core.roles import Role
from shell.api import authorization
from shell.settings import settings
from tests.support.api.client import TOKENS, gateway
from tests.torture.access.calls import ApiRequest, ApiResponse, send_through
from tests.torture.access.two_tenants import Matrix
from tests.torture.access.valid_requests import requests_of
from tools.openapi import DOCUMENT

pytestmark = pytest.mark.slow

METHODS = ("get", "post", "put", "patch", "delete")
# Everything else that writes is for editors, and reading is for viewers.
ADMINS = {
    "GET /operations",
    "POST /operations/events/retry",
    "POST /operations/events/{eventId}/retry",
    "DELETE /custody-periods/{periodId}",
    "DELETE /volumes/{volumeId}",
    "POST /productions/{productionId}/cancel",
    "PATCH /cases/{caseId}",
    "POST /cases/{caseId}/purge",
    "DELETE /cases/{caseId}/purge",
}
# Requests by POST that write nothing.
READS = {"POST /productions/check"}
# They copy what a viewer can read, and change no document.
COPIES = {"POST /exports", "POST /exports/{exportId}/cancel"}
# They change nothing themselves, but the URLs that they return add evidence.
SIGNS_UPLOADS = {"GET /imports/{importId}/upload", "GET /volumes/{volumeId}/upload"}
# Roles as identity providers name them: none of the roles, each of them, several, and others beside them.
GROUPS: dict[tuple[str, ...], Role | None] = {
    (): None,
    ("auditor", "Admin", "administrator"): None,
    ("viewer",): Role.VIEWER,
    ("editor",): Role.EDITOR,
    ("admin",): Role.ADMIN,
    ("viewer", "editor", "auditor"): Role.EDITOR,
    ("admin", "viewer"): Role.ADMIN,
}


def required() -> dict[str, Role]:
    """The role of each route, as the document states it."""
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    operations = {f"{m.upper()} {path}": each[m] for path, each in document["paths"].items() for m in each}
    assert {route.partition(" ")[0].lower() for route in operations} <= set(METHODS)
    return {route: role_of(operation) for route, operation in operations.items()}


def role_of(operation: dict[str, Any]) -> Role:
    """The one role of an operation, which its 403 names as well."""
    [[role]] = [list(scheme["token"]) for scheme in operation["security"]]
    assert f"role {role}" in operation["responses"]["403"]["description"]
    return Role(role)


def send_with_roles(matrix: Matrix, request: ApiRequest, roles: tuple[str, ...] | None) -> ApiResponse:
    """The answer to a user of the tenant with these roles; what it did is put back."""
    token = TOKENS.issue(matrix.ours.name, matrix.ours.user, roles=roles)
    response = send_through(gateway(), matrix.fresh(request), [f"Bearer {token}"])
    matrix.kept.put_back(matrix.world.engine)
    return response


def violations(matrix: Matrix, roles: tuple[str, ...] | None, role: Role | None) -> Iterator[str]:
    """The routes that let in, or keep out, otherwise than the document says."""
    request = {each.route: each for each in requests_of(matrix.ours)}
    for route, needed in required().items():
        response, allowed = send_with_roles(matrix, request[route], roles), role is not None and role.includes(needed)
        if allowed and response.status >= 300:
            yield f"{route} with {roles}: {response.status}"
        if not allowed and (response.status, response.json.get("requiredRole")) != (403, needed.value):
            yield f"{route} with {roles}: {response.status}, not 403 for {needed.value}"


def is_read(route: str) -> bool:
    """Whether a route writes nothing."""
    return route.startswith("GET ") or route in READS


def test_every_route_has_the_role_that_was_decided() -> None:
    decided = {
        route: Role.ADMIN
        if route in ADMINS
        else Role.VIEWER
        if (is_read(route) and route not in SIGNS_UPLOADS) or route in COPIES
        else Role.EDITOR
        for route in required()
    }
    assert required() == decided
    assert decided.keys() >= ADMINS


@pytest.mark.parametrize("roles", GROUPS, ids=lambda roles: " ".join(roles) or "none")
def test_a_role_may_do_what_the_document_says_and_nothing_else(matrix: Matrix, roles: tuple[str, ...]) -> None:
    assert list(violations(matrix, roles, GROUPS[roles])) == []


def test_a_refusal_says_which_role_is_needed_and_changes_nothing(matrix: Matrix) -> None:
    request = {each.route: each for each in requests_of(matrix.ours)}["DELETE /custody-periods/{periodId}"]
    token = TOKENS.issue(matrix.ours.name, matrix.ours.user, roles=("editor",))
    response = send_through(gateway(), request, [f"Bearer {token}"])
    assert matrix.kept.changed(matrix.world.engine) == {}
    assert response.json == {
        "type": "urn:exhibit-ingest:problem:role-required",
        "title": "The token does not have the role that is required.",
        "status": 403,
        "detail": "This request requires the role admin, and your token has the role editor; ask the administrator "
        "who issues your tokens.",
        "requiredRole": "admin",
    }


@pytest.mark.parametrize(
    ("default", "role"), [("none", None), ("viewer", Role.VIEWER), ("editor", Role.EDITOR), ("admin", Role.ADMIN)]
)
def test_a_token_without_the_claim_has_the_default_role(
    matrix: Matrix, monkeypatch: pytest.MonkeyPatch, default: str, role: Role | None
) -> None:
    monkeypatch.setenv("DEFAULT_ROLE", default)
    settings.cache_clear()
    found = list(violations(matrix, None, role))
    monkeypatch.undo()
    settings.cache_clear()
    assert found == []


def test_without_the_check_every_route_is_open_to_viewers(matrix: Matrix, monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control: the matrix finds every route that is for more than viewers."""
    monkeypatch.setattr(authorization, "require_role", lambda _role, _required: None)
    found = {each.partition(" with ")[0] for each in violations(matrix, ("viewer",), Role.VIEWER)}
    # Of the token alone: its answer names the role.
    assert found - {"GET /me"} == {route for route, role in required().items() if role is not Role.VIEWER}
