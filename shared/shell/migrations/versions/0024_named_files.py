"""How many documents name files, for load files that are imported without a volume.

The previous release keeps completing chunks without these counts, and does not read them.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0024"
down_revision = "0023"

# INSTANT, as in 0023.
ADD_COLUMN = """
    ALTER TABLE import_chunks ADD COLUMN named_{kind}s INT NOT NULL DEFAULT 0
      COMMENT 'New and changed exhibits with a {kind}_path, if the file is of no volume',
      ALGORITHM=INSTANT
"""


def upgrade() -> None:
    """Add the columns that are missing; a migration that was interrupted is completed."""
    there = {each["name"] for each in inspect(op.get_bind()).get_columns("import_chunks")}
    for kind in ("native", "text"):
        if f"named_{kind}s" not in there:
            op.execute(ADD_COLUMN.format(kind=kind))
