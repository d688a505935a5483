"""The text that cells hold is stored in objects; a document points to its text.

The previous release neither reads nor writes either of them.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0031"
down_revision = "0030"

_TABLE = """
    CREATE TABLE IF NOT EXISTS texts (
      id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'Internal number; do not cite it',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      import_id BIGINT NOT NULL COMMENT 'The import of the load file, imports.id',
      line_no BIGINT NOT NULL COMMENT 'The first line of the record in the load file, from 1',
      object_key VARCHAR(1024) NOT NULL
        COMMENT 'The key of the object in the bucket, which has the texts of other rows, too',
      version_id VARCHAR(1024) COMMENT 'The version of the object; NULL if the bucket has none',
      byte_start BIGINT NOT NULL COMMENT 'Where the text begins in the object, from 0',
      byte_len BIGINT NOT NULL COMMENT 'How many bytes of UTF-8 it has',
      sha256 BINARY(32) NOT NULL COMMENT 'SHA-256 of these bytes',
      PRIMARY KEY (id),
      UNIQUE KEY uq_texts_line (import_id, line_no)
    ) COMMENT 'The text of a document as the cells of one row have it: a range of bytes of one version of an object.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
# INSTANT on MySQL and MariaDB: no row is copied.
_COLUMN = """
    ALTER TABLE exhibits ADD COLUMN text_id BIGINT
      COMMENT 'The text that cells of a load file have, texts.id; NULL if none has'
"""


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    op.execute(_TABLE)
    if "text_id" not in {column["name"] for column in inspect(op.get_bind()).get_columns("exhibits")}:
        op.execute(_COLUMN)
