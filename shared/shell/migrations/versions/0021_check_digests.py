"""What the import after a check is compared with, and the options of imports that were put into the bucket."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0021"
down_revision = "0020"

# INSTANT on MySQL and MariaDB: no row is copied.
ADD_COLUMNS = {
    ("import_checks", "changes_before"): """
        ALTER TABLE import_checks ADD COLUMN changes_before BIGINT NOT NULL DEFAULT 0
          COMMENT 'Changes in the history of the case when the check began'
    """,
    ("import_chunks", "check_digest"): """
        ALTER TABLE import_chunks ADD COLUMN check_digest BINARY(32)
          COMMENT 'SHA-256 of line, result and codes of each row in a check; NULL if it was not checked'
    """,
    ("import_chunks", "import_digest"): """
        ALTER TABLE import_chunks ADD COLUMN import_digest BINARY(32)
          COMMENT 'The same of the import after the check, with which it is compared; NULL before'
    """,
}
CHANGE_COMMENT = """
    ALTER TABLE imports MODIFY COLUMN options MEDIUMTEXT
      COMMENT 'The options as JSON; those beside a file put into the bucket directly are recorded once it is split'
"""


def upgrade() -> None:
    """Add the columns that are missing, and change the comment; an upgrade that was interrupted is completed."""
    inspector = inspect(op.get_bind())
    existing = {(table, column["name"]) for table, _ in ADD_COLUMNS for column in inspector.get_columns(table)}
    for column, statement in ADD_COLUMNS.items():
        if column not in existing:
            op.execute(statement)
    op.execute(CHANGE_COMMENT)
