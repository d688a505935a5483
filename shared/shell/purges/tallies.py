"""The counts and digests of a purge, which each batch reads, adds to and stores in its own transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.purges.digests import Tally

_READ = text("SELECT kind, name, total, size, digest FROM case_purge_counts WHERE case_id = :case_id")
_SAVE = text(
    "INSERT INTO case_purge_counts (case_id, kind, name, total, size, digest) "
    "VALUES (:case_id, :kind, :name, :total, :size, :digest) "
    "ON DUPLICATE KEY UPDATE total = VALUES(total), size = VALUES(size), digest = VALUES(digest)"
)


def read_tallies(reading: Session, case_id: int) -> dict[tuple[str, str], Tally]:
    """Return the tallies of a purge by kind and name."""
    rows = reading.execute(_READ, {"case_id": case_id})
    return {(row.kind, row.name): Tally(row.total, row.size, bytes(row.digest)) for row in rows}


class Tallies:
    """The tallies of a purge, whose row the transaction has locked."""

    def __init__(self, transaction: Session, case_id: int) -> None:
        self._transaction, self._case_id = transaction, case_id
        self._stored = read_tallies(transaction, case_id)
        self._changed: dict[tuple[str, str], Tally] = {}

    def add(self, kind: str, name: str, items: Sequence[Any], size: int = 0) -> None:
        """Add items of a kind and name, in their order, with their bytes."""
        before = self._changed.get((kind, name)) or self._stored.get((kind, name)) or Tally()
        self._changed[kind, name] = before.add(map(tuple, items), size)

    def save(self) -> None:
        """Store what was added."""
        values = [
            {
                "case_id": self._case_id,
                "kind": kind,
                "name": name,
                "total": tally.total,
                "size": tally.size,
                "digest": tally.digest,
            }
            for (kind, name), tally in sorted(self._changed.items())
        ]
        if values:
            self._transaction.execute(_SAVE, values)
