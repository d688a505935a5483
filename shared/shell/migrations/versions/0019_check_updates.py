"""What the rows of an overlay would change, as its check found."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0019"
down_revision = "0018"

# INSTANT on MySQL and MariaDB: no row is copied.
ADD_COLUMNS = {
    "would_update": """
        ALTER TABLE import_checks ADD COLUMN would_update BIGINT NOT NULL DEFAULT 0
          COMMENT 'Rows that would change an exhibit'
    """,
    "updates": """
        ALTER TABLE import_checks ADD COLUMN updates MEDIUMTEXT
          COMMENT 'Rows by changed column and examples of old and new values, as JSON; NULL until finished'
    """,
}


def upgrade() -> None:
    """Add the columns that are missing; an upgrade that was interrupted is completed."""
    existing = {column["name"] for column in inspect(op.get_bind()).get_columns("import_checks")}
    for name, statement in ADD_COLUMNS.items():
        if name not in existing:
            op.execute(statement)
