"""Former names of cases: which case had a name, also after it was purged.

Guaranteed: a name that a case had is no other case's while that case is not purged. A name is written before its
aliases are read, and renaming writes the alias before it frees the name: of a creation and a renaming at once, one
sees the other.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

_FIND = text(
    "SELECT case_id, name FROM case_aliases FORCE INDEX (ix_case_aliases_hash) "
    "WHERE tenant_id = :tenant_id AND name_hash = :name_hash ORDER BY name IS NULL, id DESC LIMIT 1"
)
_ADD = text(
    "INSERT INTO case_aliases (tenant_id, case_id, name, name_hash) "
    "SELECT tenant_id, id, name, :name_hash FROM cases WHERE id = :case_id"
)
_REMOVE = text("DELETE FROM case_aliases WHERE case_id = :case_id AND name_hash = :name_hash AND name IS NOT NULL")
_FORGET_FORMER = text("UPDATE case_aliases SET name = NULL WHERE case_id = :case_id")
_FORGET = text("UPDATE cases SET name = CONCAT('purged/', id), version = version + 1 WHERE id = :case_id")


class FormerName(NamedTuple):
    """The case that had a name, and whether only the name's hash is left: the case is purged then."""

    case_id: int
    is_purged: bool


def hash_name(name: str) -> bytes:
    """Return what stands for a name: names that differ by spaces at their end are one in the database."""
    return hashlib.sha256(name.rstrip(" ").encode()).digest()


def find_former(reading: Session, tenant_id: str, name: str) -> FormerName | None:
    """Return the case that had the name: one that is not purged, else the last one that was."""
    found = reading.execute(_FIND, {"tenant_id": tenant_id, "name_hash": hash_name(name)}).one_or_none()
    return None if found is None else FormerName(found.case_id, found.name is None)


def is_former(reading: Session, tenant_id: str, name: str, *, reuse_purged: bool) -> bool:
    """Return whether a case had the name before: with `reuse_purged`, one that is not purged."""
    found = find_former(reading, tenant_id, name)
    return found is not None and not (reuse_purged and found.is_purged)


def add_former(transaction: Session, case_id: int, name: str) -> int:
    """Make the name that the case has a former one, and return the id of that row; the case's row is locked."""
    added: Any = transaction.execute(_ADD, {"case_id": case_id, "name_hash": hash_name(name)})
    return int(added.lastrowid)


def remove_former(transaction: Session, case_id: int, name: str) -> None:
    """Let the case have one of its former names again."""
    transaction.execute(_REMOVE, {"case_id": case_id, "name_hash": hash_name(name)})


def forget_names(transaction: Session, case_id: int, name: str) -> None:
    """Replace all names of a purged case by their hashes; `name` is the one it has, and its row is locked.

    What it is called then has a slash, which no name of a request may contain.
    """
    add_former(transaction, case_id, name)
    transaction.execute(_FORGET_FORMER, {"case_id": case_id})
    transaction.execute(_FORGET, {"case_id": case_id})
