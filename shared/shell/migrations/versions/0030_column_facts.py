"""What the columns of each chunk amount to, for warnings of columns without any effect.

The previous release imports chunks without a row here; nothing is then said of the columns of their import that these
chunks could disprove.
"""

from __future__ import annotations

from alembic import op

revision = "0030"
down_revision = "0029"

CREATE = """
    CREATE TABLE IF NOT EXISTS import_column_facts (
      import_id BIGINT NOT NULL COMMENT 'The import, imports.id',
      chunk_no INT NOT NULL COMMENT 'The chunk, import_chunks.chunk_no',
      facts MEDIUMTEXT NOT NULL
        COMMENT 'By the number of the column, from 0, as JSON; columns without values are left out',
      PRIMARY KEY (import_id, chunk_no)
    ) COMMENT='What the columns of a chunk amount to: whether a value had an effect, with samples of those without.'
"""


def upgrade() -> None:
    """Create the table, unless it is there."""
    op.execute(CREATE)
