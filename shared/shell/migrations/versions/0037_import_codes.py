"""Imports count their rejections and warnings by code and column, and list those of one code by an index.

The previous release writes chunks without counts beside the new one. `imports.codes_generation` says for which
generation all counts are there; otherwise they are derived from the rejections and warnings, as for earlier imports.
Nothing is backfilled: the derivation is needed in any case, and a completion counts what is missing of its import.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0037"
down_revision = "0036"

TABLE = """
    CREATE TABLE IF NOT EXISTS import_codes (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      chunk_no INT NOT NULL
        COMMENT 'import_chunks.chunk_no; 0: the whole file; below: 10,000 lines; 2147483647: sums of folded chunks',
      kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'rejection or warning',
      code VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'The code of the rejections or warnings',
      column_name VARBINARY(1020) NOT NULL
        COMMENT 'Their column as the header names it, in UTF-8; empty: no single column',
      errors BIGINT NOT NULL COMMENT 'How many they are',
      row_count BIGINT NOT NULL COMMENT 'The rows that they are about',
      first_line BIGINT NOT NULL COMMENT 'The first line that has one',
      message VARCHAR(1024) NOT NULL COMMENT 'The message of the first',
      PRIMARY KEY (import_id, chunk_no, kind, code, column_name)
    ) COMMENT='How many rejections or warnings of one code and column a chunk has.'
"""
COLUMNS = {
    "imports": {
        "codes_generation": "INT NOT NULL DEFAULT 0 COMMENT 'The generation whose rejections and warnings import_codes "
        "counts, negative until it is completed; 0 for none'",
        "codes_folded": "INT NOT NULL DEFAULT 0 COMMENT 'The last chunk in the sums of import_codes; 0 for none'",
    },
    "import_warnings": {
        "stored": "BLOB COMMENT 'The stored value in UTF-8, up to 1 KB; NULL if it is longer or not known'",
    },
}
INDEXES = {
    "import_rejections": ("ix_import_rejections_code", "import_id, code, line_no, seq"),
    "import_warnings": ("ix_import_warnings_code", "import_id, code, line_no, seq"),
}


def upgrade() -> None:
    """Create the table, the columns and the indexes that are missing."""
    op.execute(TABLE)
    for table, columns in COLUMNS.items():
        existing = {column["name"] for column in inspect(op.get_bind()).get_columns(table)}
        # `stored` is a reserved word of MySQL, but not of MariaDB.
        for name, definition in columns.items():
            if name not in existing:
                op.execute(f"ALTER TABLE {table} ADD COLUMN `{name}` {definition}")
    for table, (index, keys) in INDEXES.items():
        if index not in {each["name"] for each in inspect(op.get_bind()).get_indexes(table)}:
            op.execute(f"ALTER TABLE {table} ADD INDEX {index} ({keys})")
