"""The roles of a caller: viewer, editor, admin; each may do what the ones before it may.

Guaranteed: a role is granted only by its exact name, after the prefix if there is one; any other word in the claim is
ignored.
Not guaranteed: that a role with a space in its name differs from several roles. API Gateway passes a list as text in
brackets, `[site admin]`, whether it had one item or two. A prefix that no other group has tells them apart.
"""

from __future__ import annotations

from enum import StrEnum

from core.errors import RoleMissingError

NO_ROLE = "none"


class Role(StrEnum):
    """A role, from the least to the most powerful."""

    VIEWER = "viewer"
    EDITOR = "editor"
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Return whether this role may do what `other` may."""
        order = list(Role)
        return order.index(self) >= order.index(other)


def parse_role(claim: object, default: str, prefix: str = "") -> Role | None:
    """Return the most powerful role of a claim: a word, several with spaces or commas between, or a list in brackets.

    The claim has the names of roles after `prefix`. Without the claim it is `default`, which is a role or NO_ROLE. A
    claim without a known role grants none.
    """
    if claim is None:
        return None if default == NO_ROLE else Role(default)
    words = str(claim).removeprefix("[").removesuffix("]").replace(",", " ").split()
    return next((role for role in reversed(Role) if prefix + role.value in words), None)


def require_role(role: Role | None, required: Role) -> Role:
    """Return the role. Raises RoleMissingError unless it is the required one or more powerful."""
    if role is None or not role.includes(required):
        raise RoleMissingError(required.value, role.value if role else None)
    return role
