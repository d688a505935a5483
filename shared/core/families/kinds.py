"""How a parent is stated, and the exact form of a key."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import NamedTuple


class FamilyKind(StrEnum):
    """How a parent is stated: values of `family_statements.kind`, in the order in which they are tried.

    PARENT: the exhibit's own column says it, also that there is none; earlier statements do not count.
    """

    PARENT = "parent"
    BEGIN = "begin"
    RANGE = "range"
    GROUP = "group"
    MEMBERS = "members"


class Stated(NamedTuple):
    """What a row states in one way: the key of a document or group, None if a blank cell withdraws what was stated."""

    kind: FamilyKind
    key: str | None


def hash_key(key: str) -> bytes:
    """Return the SHA-256 by which a key is compared: exactly, whatever the collation of a column."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
