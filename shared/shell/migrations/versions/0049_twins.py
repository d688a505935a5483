"""What a later import of the same file relies on: who read a chunk, and which imports of a case have the same file.

The previous release writes no reader: no import takes its chunks for twins.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0049"
down_revision = "0047"

_READER = (
    "BINARY(32) COMMENT 'SHA-256 of the code and limits by which rows became exhibits; NULL: no row did, or not known'"
)


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    database = inspect(op.get_bind())
    if "reader" not in {each["name"] for each in database.get_columns("import_chunks")}:
        # INSTANT on MySQL and MariaDB: no row is copied.
        op.execute(f"ALTER TABLE import_chunks ADD COLUMN reader {_READER}")
    if "ix_imports_same_file" not in {each["name"] for each in database.get_indexes("imports")}:
        op.execute("CREATE INDEX ix_imports_same_file ON imports (case_id, sha256)")
