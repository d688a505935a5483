"""Volumes know the folders beside their load files and the names of their files; chunks, how paths were found.

The previous release lists volumes without folders and names, and links rows without these columns: paths of such a
volume are found by the rules that it has.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0029"
down_revision = "0028"

# INSTANT, as in 0023.
COLUMNS = (
    (
        "volumes",
        "folders MEDIUMTEXT NULL",
        "The folders beside the load files, by the folder that has them, as JSON; NULL before",
    ),
    (
        "volume_files",
        "name_hash BINARY(16) NULL",
        "As path_hash, of the name without its folders; NULL if an earlier version listed the file",
    ),
    (
        "import_chunk_files",
        "paths MEDIUMTEXT NULL",
        "How its paths were found, by rule with an example, as JSON; NULL if it names none",
    ),
)
ADD_INDEX = """
    ALTER TABLE volume_files ADD INDEX ix_volume_files_name (volume_id, name_hash), ALGORITHM=INPLACE, LOCK=NONE
"""
# Only the comment is another one.
SET_COMMENT = """
    ALTER TABLE exhibit_files MODIFY rule SMALLINT NOT NULL
      COMMENT 'The rule by which it was found, from 2 to 9, or 0; docs/volumes.md lists all'
"""


def upgrade() -> None:
    """Add the columns and the index that are missing; a migration that was interrupted is completed."""
    inspector = inspect(op.get_bind())
    for table, column, comment in COLUMNS:
        if column.split()[0] not in {each["name"] for each in inspector.get_columns(table)}:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column} COMMENT '{comment}', ALGORITHM=INSTANT")
    if "ix_volume_files_name" not in {each["name"] for each in inspector.get_indexes("volume_files")}:
        op.execute(ADD_INDEX)
    op.execute(SET_COMMENT)
