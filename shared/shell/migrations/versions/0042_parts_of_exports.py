"""When each part of an export was written, and an index by which the exports that have not ended are found.

The previous release does not write the time: the database does.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0042"
down_revision = "0041"

_COLUMNS = {
    "created_at": "DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) "
    "COMMENT 'When it was written, by the database''s clock (UTC); part 0 with the export'",
}
_INDEX = "ix_exports_status"


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    database = inspect(op.get_bind())
    found = {each["name"] for each in database.get_columns("export_parts")}
    for column, definition in _COLUMNS.items():
        if column not in found:
            op.execute(f"ALTER TABLE export_parts ADD COLUMN {column} {definition}")
    if _INDEX not in {each["name"] for each in database.get_indexes("exports")}:
        op.execute(f"CREATE INDEX {_INDEX} ON exports (status)")
