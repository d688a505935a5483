"""Overlays: what their rows would change, as a check finds, and the comments of counts that are not 0 any more."""

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
CHANGE_COMMENTS = (
    """
    ALTER TABLE imports MODIFY COLUMN updated BIGINT NOT NULL DEFAULT 0
      COMMENT 'Rows that changed an exhibit; 0 unless the mode is an overlay'
    """,
    """
    ALTER TABLE import_chunks MODIFY COLUMN updated INT NOT NULL DEFAULT 0
      COMMENT 'Rows that changed an exhibit; 0 unless the mode is an overlay'
    """,
)


def upgrade() -> None:
    """Add the columns that are missing, and change the comments; an upgrade that was interrupted is completed."""
    existing = {column["name"] for column in inspect(op.get_bind()).get_columns("import_checks")}
    for name, statement in ADD_COLUMNS.items():
        if name not in existing:
            op.execute(statement)
    for statement in CHANGE_COMMENTS:
        op.execute(statement)
