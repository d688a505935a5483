"""A load file is checked before it is imported: the phase of an import, and the results of a check."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0017"
down_revision = "0016"

TABLES = (
    """
    CREATE TABLE IF NOT EXISTS import_checks (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      generation INT NOT NULL DEFAULT 0
        COMMENT 'The generation of the import in which the check was finished',
      attempt INT NOT NULL DEFAULT 0 COMMENT 'Attempts to end the check that have begun',
      finished_attempt INT NOT NULL DEFAULT 0
        COMMENT 'The attempt that ended it, whose findings count; 0 before',
      exhibits_before BIGINT NOT NULL DEFAULT 0 COMMENT 'Exhibits of the case when the check began',
      last_exhibit_before BIGINT NOT NULL DEFAULT 0
        COMMENT 'The highest exhibits.id of the case when the check began',
      would_import BIGINT NOT NULL DEFAULT 0 COMMENT 'Rows that would become a new exhibit',
      unchanged BIGINT NOT NULL DEFAULT 0 COMMENT 'Rows that the case already holds with the same values',
      would_reject BIGINT NOT NULL DEFAULT 0 COMMENT 'Rows that would not be imported',
      warnings BIGINT NOT NULL DEFAULT 0 COMMENT 'Warnings that the import would have',
      new_custodians BIGINT NOT NULL DEFAULT 0 COMMENT 'Custodians that the import would create',
      new_tags BIGINT NOT NULL DEFAULT 0 COMMENT 'Tags that the import would create',
      findings MEDIUMTEXT
        COMMENT 'Code, severity, count, first line and message of each code, as JSON; NULL until finished',
      report_written SMALLINT NOT NULL DEFAULT 0 COMMENT '1 once the CSV file of the findings is written',
      finished_at DATETIME(6) COMMENT 'When the check was finished (UTC); NULL before',
      PRIMARY KEY (import_id)
    ) COMMENT 'The check of a load file: the state of the case when it began, and what an import would do.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_check_findings (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      code VARCHAR(32) NOT NULL COMMENT 'The code of the finding; docs/load-files.md lists all',
      line_no BIGINT NOT NULL COMMENT 'The line of the record in the file, from 1; 0 for the whole file',
      seq BIGINT NOT NULL COMMENT 'Distinguishes several findings about one line',
      row_count INT NOT NULL DEFAULT 1
        COMMENT 'Records that it covers; more than 1 only for a chunk that failed',
      column_name VARCHAR(255)
        COMMENT 'The column, as the header names it; NULL if it is about no single column',
      message VARCHAR(1024) NOT NULL COMMENT 'What was found and what to do about it',
      control_number VARCHAR(255) COMMENT 'The id of the record, where it could be read',
      PRIMARY KEY (import_id, code, line_no, seq)
    ) COMMENT 'A finding of a check: why a row would be rejected, a value that would be changed, or what to look at.'
    """,
    """
    CREATE TABLE IF NOT EXISTS import_check_facts (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      chunk_no INT NOT NULL COMMENT 'The chunk, import_chunks.chunk_no',
      part INT NOT NULL COMMENT 'Numbers the parts of the facts, from 0',
      facts MEDIUMBLOB NOT NULL COMMENT 'Up to a million bytes of the facts, compressed',
      PRIMARY KEY (import_id, chunk_no, part)
    ) COMMENT 'What the end of a check needs of the rows and names of a chunk; deleted when the check is finished.'
    """,
)
ADD_PHASE = """
    ALTER TABLE imports ADD COLUMN phase VARCHAR(16) NOT NULL DEFAULT 'import'
      COMMENT 'What the chunks are processed for: import, or check, which writes nothing to the case'
"""


def upgrade() -> None:
    """Create the tables and add the column, unless a migration that was interrupted did."""
    for statement in TABLES:
        op.execute(statement + "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin")
    columns = inspect(op.get_bind()).get_columns("imports")
    if "phase" not in {column["name"] for column in columns}:
        op.execute(ADD_PHASE)
