"""Undoing imports: undos and their parts, what they kept and removed; produced documents keep a control number."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0020"
down_revision = "0019"

TABLES = (
    """
    CREATE TABLE IF NOT EXISTS import_undos (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      undo_no INT NOT NULL COMMENT 'The number of the undo of this import, from 1',
      status VARCHAR(32) NOT NULL
        COMMENT 'requested, running, or an end: undone, undone_with_conflicts, undo_failed, cancelled or superseded',
      dry_run SMALLINT NOT NULL COMMENT '1 if it only finds out what an undo would do',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who requested the undo',
      status_before VARCHAR(32) NOT NULL COMMENT 'The status of the import before the undo',
      generation INT NOT NULL DEFAULT 1
        COMMENT '1, and one more for each retry; dead letters of earlier ones are ignored',
      parts INT NOT NULL DEFAULT 0 COMMENT 'Parts of the undo, one for each chunk',
      parts_left INT NOT NULL DEFAULT 0 COMMENT 'Parts that are neither done nor failed; at 0 the undo ends',
      restored BIGINT NOT NULL DEFAULT 0 COMMENT 'Documents of which values or links were restored',
      removed BIGINT NOT NULL DEFAULT 0 COMMENT 'Documents that were removed',
      kept BIGINT NOT NULL DEFAULT 0 COMMENT 'Documents that were kept, or of which a value or link was',
      links_restored BIGINT NOT NULL DEFAULT 0 COMMENT 'Links to custodians and tags that were made again',
      report_written SMALLINT NOT NULL DEFAULT 0 COMMENT '1 once the CSV file of what was kept is written',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the undo was requested (UTC)',
      finished_at DATETIME(6) COMMENT 'When it ended (UTC); NULL before',
      PRIMARY KEY (import_id, undo_no)
    ) COMMENT 'An undo of an import, or a dry run of one; an import that kept something can be undone again.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_undo_parts (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      undo_no INT NOT NULL COMMENT 'The undo, import_undos.undo_no',
      chunk_no INT NOT NULL COMMENT 'The chunk, import_chunks.chunk_no',
      first_line BIGINT NOT NULL COMMENT 'The first line of the chunk',
      last_line BIGINT NOT NULL COMMENT 'The last line of the chunk',
      status VARCHAR(16) NOT NULL DEFAULT 'pending'
        COMMENT 'pending, done (committed) or failed (in every attempt)',
      restored INT NOT NULL DEFAULT 0 COMMENT 'Documents of which values or links were restored',
      removed INT NOT NULL DEFAULT 0 COMMENT 'Documents that were removed',
      kept INT NOT NULL DEFAULT 0 COMMENT 'Documents that were kept, or of which a value or link was',
      links_restored INT NOT NULL DEFAULT 0 COMMENT 'Links to custodians and tags that were made again',
      finished_at DATETIME(6) COMMENT 'When it was done or failed (UTC); NULL while it is pending',
      PRIMARY KEY (import_id, undo_no, chunk_no)
    ) COMMENT 'What an undo does for one chunk of the import, in one transaction.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_undo_kept (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      undo_no INT NOT NULL COMMENT 'The undo, import_undos.undo_no',
      line_no BIGINT NOT NULL COMMENT 'The line of the import''s file',
      seq INT NOT NULL COMMENT 'Distinguishes several reasons of one line, from 0',
      exhibit_id BIGINT NOT NULL COMMENT 'The exhibit, exhibits.id',
      control_number VARCHAR(255) NOT NULL COMMENT 'The control number of the document',
      code VARCHAR(32) NOT NULL COMMENT 'Why it was kept, as a code; docs/correcting-a-load.md lists all',
      kind VARCHAR(16) COMMENT 'fields, properties, custodians or tags; NULL for the whole document',
      name VARCHAR(1024) COMMENT 'The field, property, custodian or tag; NULL for the whole document',
      by_user VARCHAR(255) COMMENT 'The user whose change is the reason; NULL if none is',
      by_import BIGINT COMMENT 'The import whose change is the reason, imports.id; NULL if none is',
      by_production BIGINT COMMENT 'The production that has the document, productions.id; NULL if none is the reason',
      by_document VARCHAR(255) COMMENT 'The control number of an attachment that stays; NULL if none is the reason',
      PRIMARY KEY (import_id, undo_no, line_no, seq)
    ) COMMENT 'A document that an undo kept, or a value or link of one, and why.'
    """,
    """
    CREATE TABLE IF NOT EXISTS exhibit_tombstones (
      exhibit_id BIGINT NOT NULL COMMENT 'The former exhibits.id',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      control_number VARCHAR(255) NOT NULL COMMENT 'The control number that the document had',
      version INT NOT NULL COMMENT 'The last version of the document',
      import_id BIGINT NOT NULL COMMENT 'The import that created it, and was undone',
      line_no BIGINT NOT NULL COMMENT 'The line of the import''s file',
      undo_no INT NOT NULL COMMENT 'The undo that removed it, import_undos.undo_no',
      removed_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When it was removed (UTC)',
      PRIMARY KEY (exhibit_id),
      KEY ix_exhibit_tombstones_case (case_id, control_number)
    ) COMMENT 'A document that an undo removed.'
    """,
)
# INSTANT on MySQL and MariaDB: no row is copied. NULL in rows of earlier versions, whose exhibits give the number.
ADD_CONTROL_NUMBER = """
    ALTER TABLE production_documents ADD COLUMN control_number VARCHAR(255)
      COMMENT 'The control number of the exhibit; NULL in rows of earlier versions, whose exhibit has it'
"""
# Of an earlier version's rows only those with void numbers can lose their exhibit.
COPY_CONTROL_NUMBERS = """
    UPDATE production_documents
    SET control_number = (SELECT exhibit.control_number FROM exhibits AS exhibit WHERE exhibit.id = exhibit_id)
    WHERE control_number IS NULL
"""


def upgrade() -> None:
    """Create the tables and add the column, unless a migration that was interrupted did."""
    for statement in TABLES:
        op.execute(statement + "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin")
    columns = inspect(op.get_bind()).get_columns("production_documents")
    if "control_number" not in {column["name"] for column in columns}:
        op.execute(ADD_CONTROL_NUMBER)
    op.execute(COPY_CONTROL_NUMBERS)
