"""What rows state about families has a table, and a production keeps the parents of its documents.

The previous release writes neither: its rows have the parent of their own column alone, and its productions read that.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0026"
down_revision = "0025"

TABLE = """
    CREATE TABLE IF NOT EXISTS family_statements (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'Internal number; do not cite it',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      exhibit_id BIGINT NOT NULL COMMENT 'The exhibit whose row states it, exhibits.id',
      kind VARCHAR(16) NOT NULL
        COMMENT 'begin, range, group, members, or parent: parent_control_number was set or emptied',
      key_text VARCHAR(255)
        COMMENT 'The document or group as stated, its first 255 characters; NULL if a blank cell withdraws it',
      key_hash BINARY(32) COMMENT 'SHA-256 of the whole key; NULL without one',
      import_id BIGINT COMMENT 'The import whose file states it, imports.id; NULL if a request did',
      line_no BIGINT COMMENT 'The line in that file; NULL if a request did',
      KEY ix_family_statements_exhibit (exhibit_id),
      KEY ix_family_statements_key (case_id, key_hash, kind, import_id, line_no),
      KEY ix_family_statements_import (import_id, line_no)
    )
    COMMENT='A statement of a row about the family of its document; the parent is found from it when it is read.'
"""
# INSTANT: the table of a large case is not copied.
ADD_PARENT = """
    ALTER TABLE production_documents ADD COLUMN parent_control_number VARCHAR(255)
      COMMENT 'The parent when the numbers were reserved, blank for none; NULL in rows of earlier versions',
      ALGORITHM=INSTANT
"""


def upgrade() -> None:
    """Create the table and add the column, unless they are there; a migration that was interrupted is completed."""
    op.execute(TABLE + "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin")
    there = {each["name"] for each in inspect(op.get_bind()).get_columns("production_documents")}
    if "parent_control_number" not in there:
        op.execute(ADD_PARENT)
