"""Roles as API Gateway hands the claim on: the most powerful known one counts, and nothing that resembles one."""

from __future__ import annotations

import pytest

from core.contracts.exhibits import Exhibit
from core.errors import RoleMissingError
from core.roles import NO_ROLE, Role, parse_role, require_role
from shell.api import app as api


@pytest.mark.parametrize(
    ("claim", "role"),
    [
        *(("viewer", Role.VIEWER), ("[editor]", Role.EDITOR), ("[viewer admin editor]", Role.ADMIN)),
        *(("editor viewer", Role.EDITOR), ("viewer, editor", Role.EDITOR), ("viewer,admin", Role.ADMIN)),
        *(("[reviewer editor]", Role.EDITOR), ("[reviewer]", None), ("", None), ("[]", None), ("Admin", None)),
        *(("superadmin", None), ("admin2", None), ("[map[role:admin]]", None), ('{"role":"admin"}', None)),
    ],
)
@pytest.mark.parametrize("default", [NO_ROLE, "viewer", "admin"])
def test_a_claim_grants_its_most_powerful_known_role_whatever_the_default(
    claim: str, role: Role | None, default: str
) -> None:
    assert parse_role(claim, default) is role


@pytest.mark.parametrize(("default", "role"), [(NO_ROLE, None), *((role.value, role) for role in Role)])
def test_without_a_claim_the_default_counts(default: str, role: Role | None) -> None:
    assert parse_role(None, default) is role


def test_a_role_includes_those_before_it() -> None:
    allowed = {(role, required) for role in Role for required in Role if role.includes(required)}
    order = [Role.VIEWER, Role.EDITOR, Role.ADMIN]
    assert allowed == {(role, required) for at, role in enumerate(order) for required in order[: at + 1]}
    for role in (None, *Role):
        for required in Role:
            if (role, required) in allowed:
                require_role(role, required)
            else:
                with pytest.raises(RoleMissingError, match=f"requires the role {required.value}"):
                    require_role(role, required)


def test_a_route_without_a_role_cannot_be_registered() -> None:
    app, declared = api.http_app(), api.for_viewers(200, Exhibit)
    app.get("/a", **declared)
    with pytest.raises(TypeError, match="GET /b declares no role"):
        app.get("/b", responses=declared["responses"])
    undecided: list[list[dict[str, list[str]]]] = [[], [{"token": []}], [{"token": ["viewer", "admin"]}]]
    for security in (*undecided, [{"token": ["viewer"]}, {}]):
        with pytest.raises(TypeError):
            app.get("/c", security=security, responses=declared["responses"])
    with pytest.raises(ValueError, match="owner"):
        app.get("/d", security=[{"token": ["owner"]}], responses=declared["responses"])
