"""Zones: which control numbers and ids the exhibits have that a chunk created.

The previous release does not write them: a case with one of its chunks is read as before.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0041"
down_revision = "0040"

# INSTANT on MySQL and MariaDB: no row is copied.
_COLUMNS = {
    "first_number": "VARCHAR(255) COMMENT 'The lowest control number of the exhibits that the chunk created; "
    "NULL: not known'",
    "last_number": "VARCHAR(255) COMMENT 'The highest control number of the exhibits that the chunk created; "
    "NULL: not known'",
    "first_exhibit": "BIGINT COMMENT 'The lowest id of the exhibits that the chunk created, exhibits.id; "
    "NULL: not known'",
    "last_exhibit": "BIGINT COMMENT 'The highest id of the exhibits that the chunk created, exhibits.id; "
    "NULL: not known'",
}


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    found = {each["name"] for each in inspect(op.get_bind()).get_columns("import_chunks")}
    for column, definition in _COLUMNS.items():
        if column not in found:
            op.execute(f"ALTER TABLE import_chunks ADD COLUMN {column} {definition}")
