"""Pages of image load files are reconciled with what their data files state; reports list deficiencies.

The previous release neither writes the facts nor reads them: an import whose chunks it completed has none, and is
reconciled with what there is.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0027"
down_revision = "0026"

# INSTANT, as in 0023.
ADD_PAGES = """
    ALTER TABLE import_chunk_files ADD COLUMN pages MEDIUMBLOB NULL
      COMMENT 'What its rows state or its documents have of pages, compressed; NULL if it states none',
      ALGORITHM=INSTANT
"""
ADD_GENERATION = """
    ALTER TABLE {table} ADD COLUMN deficiencies_generation INT NOT NULL DEFAULT 0
      COMMENT 'The generation whose reports have a list for the producing party; 0 for none',
      ALGORITHM=INSTANT
"""
CREATE = """
    CREATE TABLE IF NOT EXISTS page_reconciliations (
      import_id BIGINT NOT NULL COMMENT 'The import of the image load file, imports.id',
      attempt INT NOT NULL DEFAULT 0 COMMENT 'Attempts that have begun',
      generation INT NOT NULL DEFAULT 0 COMMENT 'The generation of the import that was compared; 0 before',
      compared MEDIUMTEXT
        COMMENT 'The imports that it was compared with, and the generation of each, as JSON; NULL before',
      findings BIGINT NOT NULL DEFAULT 0 COMMENT 'The number of findings',
      finished_at DATETIME(6) COMMENT 'When it was finished (UTC); NULL before, and while it is repeated',
      PRIMARY KEY (import_id)
    ) COMMENT='The comparison of the pages of an image load file with what its data file states.'
"""


def upgrade() -> None:
    """Add what is missing; a migration that was interrupted is completed."""
    for table, column, statement in (
        ("import_chunk_files", "pages", ADD_PAGES),
        ("imports", "deficiencies_generation", ADD_GENERATION.format(table="imports")),
        ("import_checks", "deficiencies_generation", ADD_GENERATION.format(table="import_checks")),
    ):
        if column not in {each["name"] for each in inspect(op.get_bind()).get_columns(table)}:
            op.execute(statement)
    op.execute(CREATE)
