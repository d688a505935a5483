"""Rejected rows can be corrected or discarded, one claim for each row, and imports name the one that they correct.

The previous release neither reads nor writes the table and the column. It cannot read the chunk of a correction, whose
layout names a form that it does not know: it fails, and a function of this release imports it.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0036"
down_revision = "0035"

TABLE = """
    CREATE TABLE IF NOT EXISTS import_corrections (
      import_id BIGINT NOT NULL COMMENT 'The import that rejected the row, imports.id',
      line_no BIGINT NOT NULL COMMENT 'The line of the row, import_rejections.line_no',
      status VARCHAR(16) NOT NULL
        COMMENT 'pending (its import runs, or ended without the row), accepted (the case has the row) or discarded',
      correcting_import_id BIGINT
        COMMENT 'The import that has the corrected row, imports.id; NULL if it was discarded',
      correcting_line BIGINT COMMENT 'The line of the corrected row in that import; NULL if it was discarded',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who corrected or discarded it',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'When it was corrected or discarded (UTC)',
      PRIMARY KEY (import_id, line_no),
      KEY ix_import_corrections_by (correcting_import_id, correcting_line),
      KEY ix_import_corrections_status (import_id, status)
    ) COMMENT='A claim of one rejected row: by an import that corrects it, or by a user who leaves it out.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
ADD_COLUMN = """
    ALTER TABLE imports ADD COLUMN corrects_import_id BIGINT
      COMMENT 'The import of whose rejected rows this one has corrections, imports.id; NULL for none'
"""
ADD_INDEX = "ALTER TABLE imports ADD KEY ix_imports_corrects (corrects_import_id)"


def upgrade() -> None:
    """Create the table, the column and its index, as far as a migration that was interrupted has not."""
    op.execute(TABLE)
    found = inspect(op.get_bind())
    if "corrects_import_id" not in {column["name"] for column in found.get_columns("imports")}:
        op.execute(ADD_COLUMN)
    if "ix_imports_corrects" not in {index["name"] for index in found.get_indexes("imports")}:
        op.execute(ADD_INDEX)
