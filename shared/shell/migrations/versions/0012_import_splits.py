"""A split is stored at checkpoints, from which another worker can go on."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0012"
down_revision = "0011"

CREATE_TABLE = """
    CREATE TABLE IF NOT EXISTS import_splits (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      fingerprint BINARY(32) NOT NULL
        COMMENT 'SHA-256 of all that decides how the file is split; the split starts over if it changes',
      bytes_read BIGINT NOT NULL COMMENT 'Bytes of the file that are split',
      partition_no INT
        COMMENT 'The partition of ids in which duplicates are looked for next; NULL until the whole file is read',
      state MEDIUMTEXT COMMENT 'The state of the split, as JSON; NULL if it starts over',
      PRIMARY KEY (import_id)
    ) COMMENT 'The last checkpoint of the split of a large file, until its chunks are registered.'
"""
ADD_COLUMN = """
    ALTER TABLE imports ADD COLUMN split_checkpoint VARCHAR(32)
      COMMENT 'A random name of the last checkpoint of the split; NULL if there was none'
"""


def upgrade() -> None:
    """Create the table and add the column, unless a migration that was interrupted did."""
    op.execute(CREATE_TABLE)
    columns = inspect(op.get_bind()).get_columns("imports")
    if "split_checkpoint" not in {column["name"] for column in columns}:
        op.execute(ADD_COLUMN)
