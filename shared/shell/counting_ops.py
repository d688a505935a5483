"""What an import comes to, as its chunks count it."""

from __future__ import annotations

from sqlalchemy import text
from sqlalchemy.orm import Session

_TOTALS = text(
    "SELECT COALESCE(SUM(imported), 0) AS imported, COALESCE(SUM(unchanged), 0) AS unchanged, "
    "COALESCE(SUM(updated), 0) AS updated, COALESCE(SUM(rejected), 0) AS rejected, "
    "(SELECT COUNT(*) FROM import_warnings WHERE import_id = :import_id) AS warnings, "
    "(SELECT COUNT(*) FROM custodians WHERE import_id = :import_id) AS custodians, "
    "(SELECT COUNT(*) FROM tags WHERE import_id = :import_id) AS tags "
    "FROM import_chunks WHERE import_id = :import_id"
)


def totals_of(transaction: Session, import_id: int) -> dict[str, int]:
    """What an import's settled chunks add up to, and the names it made; a plain read that locks no chunk."""
    totals = transaction.execute(_TOTALS, {"import_id": import_id}).one()._mapping
    return {name: int(value) for name, value in totals.items()}
