"""The authenticated caller of a request.

Guaranteed: the ids of tenant and user fit into an S3 key and into every column that stores them, so that no route has
to check them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.errors import ForbiddenError

_BAD_CASES = (
    "The token's claim of the cases is not a JSON array of their names, as text; ask the administrator who issues your "
    "tokens."
)
_NO_CASES = (
    "The token does not say which cases you may see, and this deployment requires that; ask the administrator who "
    "issues your tokens for the claim of the cases."
)
# The claim of a user who may see every case, where the claim is required.
EVERY_CASE = "*"
MAX_TENANT_CHARACTERS, MAX_USER_CHARACTERS = 64, 255


@dataclass(frozen=True)
class Caller:
    """The tenant and the user of a request, taken from the verified token and never from the request itself.

    `cases` are the names of the only cases that exist for the caller; None if the token sets no limit. `user_name` is
    what people call the user, None if the token does not say; nothing is decided by it.
    """

    tenant_id: str
    user_id: str
    cases: frozenset[str] | None = None
    user_name: str | None = field(default=None, compare=False)

    @classmethod
    def from_claims(
        cls,
        claims: Mapping[str, Any],
        tenant_claim: str,
        cases_claim: str = "",
        *,
        cases_required: bool = False,
        name_claim: str = "",
    ) -> Caller:
        """Return the caller that the claims of a verified token name.

        Raises ForbiddenError if the tenant or the user is missing, or does not fit into an S3 key and its column, if
        the claim of the cases is neither EVERY_CASE nor a JSON array of strings, and, with `cases_required`, if the
        token has no such claim.
        """
        tenant, user = claims.get(tenant_claim), claims.get("sub")
        if not (is_name_of_tenant(tenant) and _is_name(user, MAX_USER_CHARACTERS)):
            raise ForbiddenError()
        # The tables of links store the user in utf8mb3, which has no character beyond U+FFFF.
        if max(str(user)) > "\uffff":
            raise ForbiddenError()
        cases = claims.get(cases_claim)
        if cases is None and cases_required:
            raise ForbiddenError(_NO_CASES)
        name = _parse_name(claims.get(name_claim))
        return cls(tenant_id=str(tenant), user_id=str(user), cases=_parse_cases(cases), user_name=name)


def is_name_of_tenant(value: object) -> bool:
    """Return whether a tenant can have this name: it fits into an S3 key and into every column that stores it."""
    return _is_name(value, MAX_TENANT_CHARACTERS)


def _parse_cases(claim: object) -> frozenset[str] | None:
    """Return the names in a claim, or None without one and for EVERY_CASE.

    The claim is text that contains JSON, because API Gateway passes a list as its items with spaces between, and names
    of cases contain spaces.
    """
    if claim is None or claim == EVERY_CASE:
        return None
    try:
        names = json.loads(str(claim))
    except ValueError as exc:
        raise ForbiddenError(_BAD_CASES) from exc
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ForbiddenError(_BAD_CASES)
    return frozenset(names)


def _parse_name(claim: object) -> str | None:
    """Return the name in a claim, as far as its column holds it; None for a claim that is missing or not printable."""
    name = str(claim or "").strip()[:MAX_USER_CHARACTERS].strip()
    return name if name and name.isprintable() else None


def _is_name(value: object, max_characters: int) -> bool:
    """Check that the value is one path segment of an S3 key and has no surrounding space, which MySQL ignores."""
    if value in (".", ".."):
        return False
    if not isinstance(value, str) or not 0 < len(value) <= max_characters or not value.isprintable():
        return False
    # API Gateway passes lists and objects as text, in which different values can look the same.
    return value == value.strip() and "/" not in value and not value.startswith(("[", "{", "map["))
