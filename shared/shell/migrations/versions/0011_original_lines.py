"""Rejected records of an error file have the line that they had in the file that was first imported."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0011"
down_revision = "0010"

ADD_COLUMN = """
    ALTER TABLE import_rejections ADD COLUMN original_line BIGINT
      COMMENT 'The line of the record in the file that was first imported, if this file is an error file; else NULL'
"""


def upgrade() -> None:
    """Add the column, unless a migration that was interrupted has added it."""
    columns = inspect(op.get_bind()).get_columns("import_rejections")
    if "original_line" not in {column["name"] for column in columns}:
        op.execute(ADD_COLUMN)
