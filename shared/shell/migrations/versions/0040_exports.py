"""Exports of documents, pages, tags and history, with the parts of their files.

The previous release neither reads nor writes them.
"""

from __future__ import annotations

from alembic import op

revision = "0040"
down_revision = "0039"

_EXPORTS = """
    CREATE TABLE IF NOT EXISTS exports (
      id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'The number of the export, as the API has it',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the export',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who requested the export',
      kind VARCHAR(16) NOT NULL COMMENT 'documents, pages, tags or history: what its rows are',
      format VARCHAR(16) NOT NULL COMMENT 'csv or jsonl',
      filters MEDIUMTEXT NOT NULL COMMENT 'The filters of the list of exhibits, as JSON',
      column_names MEDIUMTEXT NOT NULL COMMENT 'The columns in their order, as JSON',
      highest_exhibit_id BIGINT NOT NULL
        COMMENT 'The highest exhibits.id of the case at the request; documents with higher ones are no part',
      expected BIGINT
        COMMENT 'How many documents matched when it was requested; NULL if they are too many to count',
      status VARCHAR(16) NOT NULL COMMENT 'requested, running, completed, cancelled or failed',
      reason MEDIUMTEXT COMMENT 'Why it failed; NULL unless it did',
      upload_id VARCHAR(1024) COMMENT 'The multipart upload of its file; NULL before its work began',
      documents BIGINT NOT NULL DEFAULT 0 COMMENT 'How many documents are written',
      row_count BIGINT NOT NULL DEFAULT 0 COMMENT 'How many rows are written',
      size BIGINT NOT NULL DEFAULT 0 COMMENT 'The bytes that are written',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'When it was requested, by the database''s clock (UTC)',
      started_at DATETIME(6) COMMENT 'When its work began, from which its file is kept; NULL before',
      finished_at DATETIME(6) COMMENT 'When it ended; NULL before',
      PRIMARY KEY (id),
      KEY ix_exports_case (tenant_id, case_id, id),
      KEY ix_exports_tenant (tenant_id)
    ) COMMENT
    'A file with the documents of a case, or their pages, tags or history, that a user requested.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
_PARTS = """
    CREATE TABLE IF NOT EXISTS export_parts (
      export_id BIGINT NOT NULL COMMENT 'The export, exports.id',
      part_no INT NOT NULL COMMENT 'The number of the part in its upload, from 1',
      after_key VARCHAR(255)
        COMMENT 'The control number of its last document; NULL without documents up to it',
      is_last SMALLINT NOT NULL COMMENT '1 if no document follows, else 0',
      etag VARCHAR(255) NOT NULL COMMENT 'The ETag of the part; empty for part 0',
      checksum VARCHAR(16) NOT NULL COMMENT 'CRC-32 of the part in Base64; empty for part 0',
      PRIMARY KEY (export_id, part_no)
    ) COMMENT
    'A part of the file of an export, and where the next one begins; rows are inserted and never updated.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""


def upgrade() -> None:
    """Create the two tables."""
    op.execute(_EXPORTS)
    op.execute(_PARTS)
