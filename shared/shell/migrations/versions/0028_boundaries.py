"""Chunks of an image load file have the boundaries that commands elsewhere in the file decide.

It is NULL in existing rows. The previous release does not read it: the hash of such a chunk is another one there, so
that the chunk fails instead of being read as other documents.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0028"
down_revision = "0027"

# INSTANT, as in 0023.
ADD_COLUMN = """
    ALTER TABLE import_chunks ADD COLUMN boundaries BLOB
      COMMENT 'Which lines begin documents, if commands of an image load file change that; else NULL',
      ALGORITHM=INSTANT
"""


def upgrade() -> None:
    """Add the column, unless a migration that was interrupted has added it."""
    columns = inspect(op.get_bind()).get_columns("import_chunks")
    if "boundaries" not in {column["name"] for column in columns}:
        op.execute(ADD_COLUMN)
