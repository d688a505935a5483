"""Who asks, as the checked token says; ids of a tenant and a user that keys in S3 and columns can hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import ForbiddenError

MAX_TENANT_CHARACTERS, MAX_USER_CHARACTERS = 64, 255


@dataclass(frozen=True)
class Caller:
    """On whose behalf a request is made; from the token alone, never from the request."""

    tenant_id: str
    user_id: str

    @classmethod
    def of_claims(cls, claims: Mapping[str, Any], tenant_claim: str) -> Caller:
        """The caller of a checked token.

        Raises ForbiddenError where tenant or user are missing, or are not what a key in S3 and a column can hold.
        """
        tenant, user = claims.get(tenant_claim), claims.get("sub")
        if not (_is_name(tenant, MAX_TENANT_CHARACTERS) and _is_name(user, MAX_USER_CHARACTERS)):
            raise ForbiddenError()
        return cls(tenant_id=str(tenant), user_id=str(user))


def _is_name(value: object, most: int) -> bool:
    """Without what would end a part of an S3 key or be taken for a folder, or not be compared by the database."""
    if value in (".", ".."):
        return False
    if not isinstance(value, str) or not 0 < len(value) <= most or not value.isprintable():
        return False
    # API Gateway hands on lists and objects as text, in which other values look the same.
    return value == value.strip() and "/" not in value and not value.startswith(("[", "{", "map["))
