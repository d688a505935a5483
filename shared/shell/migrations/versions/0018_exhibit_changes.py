"""The history of exhibits, and the indexes by which imports and families are found.

An index is added without copying the table and while it is written to (MySQL Reference Manual, "Online DDL Operations":
INPLACE); one ALTER reads the table once for all of them.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0018"
down_revision = "0017"

CREATE_TABLE = """
    CREATE TABLE IF NOT EXISTS exhibit_changes (
      exhibit_id BIGINT NOT NULL COMMENT 'The exhibit, exhibits.id',
      version INT NOT NULL COMMENT 'The version of the exhibit after the change, from 2',
      created_at_gmt DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'When the change was made, by the database''s clock (UTC)',
      action VARCHAR(16) NOT NULL COMMENT 'edited, custodians_added, tagged, untagged, overlaid or undone',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who made the change',
      import_id BIGINT
        COMMENT 'The import that made or undid the change, imports.id; NULL if a request made it',
      line_no BIGINT COMMENT 'The line of the import''s file that changed the exhibit; NULL if no line did',
      undo_no INT COMMENT 'Which undo of the import made the change, from 1; NULL if no undo did',
      changes MEDIUMBLOB NOT NULL
        COMMENT 'Old and new values by field, property, custodian and tag: JSON, or compressed JSON if longer',
      PRIMARY KEY (exhibit_id, version),
      KEY ix_exhibit_changes_import (import_id, line_no)
    ) COMMENT='A change of an exhibit after its creation; rows are inserted and never updated.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
ADD_INDEXES = """
    ALTER TABLE exhibits
      ADD INDEX ix_exhibits_import (import_id, line_no),
      ADD INDEX ix_exhibits_parent (case_id, parent_control_number),
      ADD INDEX ix_exhibits_bates (case_id, bates_begin)
"""


def upgrade() -> None:
    """Create the table and add the indexes, unless a migration that was interrupted did."""
    op.execute(CREATE_TABLE)
    indexes = inspect(op.get_bind()).get_indexes("exhibits")
    if "ix_exhibits_import" not in {index["name"] for index in indexes}:
        op.execute(ADD_INDEXES)
