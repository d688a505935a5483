"""The search for repeated ids goes on within a group of partitions, after the repeats that are stored."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0013"
down_revision = "0012"

ADD_COLUMN = """
    ALTER TABLE import_splits ADD COLUMN repeats_stored BIGINT NOT NULL DEFAULT 0
      COMMENT 'Duplicates that are stored of the group of partitions that begins at partition_no'
"""


def upgrade() -> None:
    """Add the column, unless a migration that was interrupted has added it."""
    columns = inspect(op.get_bind()).get_columns("import_splits")
    if "repeats_stored" not in {column["name"] for column in columns}:
        op.execute(ADD_COLUMN)
