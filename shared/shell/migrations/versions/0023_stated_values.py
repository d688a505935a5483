"""What rows of files state, in the history; and which exhibits they found unchanged, and what undos found of both.

The previous release keeps writing rows without `stated`, and does not read the column. A column at the end of a table
is added without copying its rows (MySQL Reference Manual, "Online DDL Operations": INSTANT; MariaDB documentation,
"InnoDB Online DDL Operations with the INSTANT Alter Algorithm"); a server that would copy them refuses instead.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0023"
down_revision = "0022"

ADD_COLUMN = """
    ALTER TABLE exhibit_changes ADD COLUMN stated MEDIUMBLOB
      COMMENT 'Names of what the line states and found equal, in the form of changes; NULL if that is not recorded',
      ALGORITHM=INSTANT
"""
TABLES = (
    """
    CREATE TABLE IF NOT EXISTS import_unchanged (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      chunk_no INT NOT NULL COMMENT 'The chunk, import_chunks.chunk_no',
      first_id BIGINT NOT NULL COMMENT 'The lowest of the exhibits, exhibits.id',
      last_id BIGINT NOT NULL COMMENT 'The highest of them, exhibits.id',
      exhibit_ids MEDIUMBLOB NOT NULL
        COMMENT 'Their ids in ascending order, each as its distance from the one before: compressed JSON',
      PRIMARY KEY (import_id, chunk_no),
      KEY ix_import_unchanged_ids (import_id, first_id, last_id)
    ) COMMENT 'The exhibits that rows of a chunk found unchanged; none for a chunk without such rows.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_undo_others (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      undo_no INT NOT NULL COMMENT 'The undo, import_undos.undo_no',
      chunk_no INT NOT NULL COMMENT 'The part, import_undo_parts.chunk_no',
      kind VARCHAR(16) NOT NULL
        COMMENT 'states a value that stays, unchanged (rows found documents so) or unrecorded (what its rows state)',
      other_import_id BIGINT NOT NULL COMMENT 'The other import, imports.id',
      documents INT NOT NULL COMMENT 'Documents of the part',
      PRIMARY KEY (import_id, undo_no, chunk_no, kind, other_import_id)
    ) COMMENT 'What other imports have to do with the documents that a part of an undo removed, restored or left.'
    """,
)


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    for statement in TABLES:
        op.execute(statement + "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin")
    columns = inspect(op.get_bind()).get_columns("exhibit_changes")
    if "stated" not in {each["name"] for each in columns}:
        op.execute(ADD_COLUMN)
