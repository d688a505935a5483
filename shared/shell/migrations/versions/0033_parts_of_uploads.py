"""Imports, zips and declared files know the parts in which they are uploaded, so that an upload can be resumed.

The previous release neither reads nor writes the columns: what it announces in parts has the parts that it always had,
and its imports and zips in parts are resumed by repeating their request.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0033"
down_revision = "0032"

# INSTANT, as in 0023.
COLUMNS = (
    (
        "imports",
        "multipart_id VARCHAR(255) NULL",
        "The multipart upload of an announced file that is sent in parts; NULL otherwise",
    ),
    ("imports", "part_bytes BIGINT NULL", "The size of these parts; NULL otherwise"),
    (
        "volumes",
        "archive_size BIGINT NULL",
        "The declared size of the zip; NULL for single files, or if an earlier version created it",
    ),
    (
        "volumes",
        "archive_multipart_id VARCHAR(255) NULL",
        "The multipart upload of a zip that is sent in parts; NULL otherwise",
    ),
    ("volumes", "archive_part_bytes BIGINT NULL", "The size of the parts of the zip; NULL otherwise"),
    (
        "volume_uploads",
        "part_bytes BIGINT NULL",
        "The size of these parts; NULL otherwise, or if an earlier version declared it",
    ),
    (
        "volume_uploads",
        "begun_at DATETIME(6) NULL",
        "When the multipart upload was begun (UTC); NULL otherwise, or as for part_bytes",
    ),
)


def upgrade() -> None:
    """Add the columns that are missing; a migration that was interrupted is completed."""
    inspector = inspect(op.get_bind())
    for table, column, comment in COLUMNS:
        if column.split()[0] not in {each["name"] for each in inspector.get_columns(table)}:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column} COMMENT '{comment}', ALGORITHM=INSTANT")
