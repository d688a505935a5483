"""What a table has already: DDL commits by itself, and a migration may die before its revision is recorded."""

from __future__ import annotations

from alembic import op
from sqlalchemy import text

_COLUMN = text(
    "SELECT COUNT(*) FROM information_schema.columns "
    "WHERE table_schema = DATABASE() AND table_name = :table AND column_name = :name"
)
_KEY = text(
    "SELECT COUNT(*) FROM information_schema.statistics "
    "WHERE table_schema = DATABASE() AND table_name = :table AND index_name = :name"
)


def has_column(table: str, name: str) -> bool:
    """Whether the table has a column of that name."""
    return bool(op.get_bind().execute(_COLUMN, {"table": table, "name": name}).scalar())


def has_key(table: str, name: str) -> bool:
    """Whether the table has a key of that name."""
    return bool(op.get_bind().execute(_KEY, {"table": table, "name": name}).scalar())
