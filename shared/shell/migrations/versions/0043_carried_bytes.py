"""The bytes of a part of an export that are too few for S3, until the next part has them.

The previous release leaves them out of the file; S3 then refuses to complete it, because the part has no ETag.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0043"
down_revision = "0042"

# INSTANT on MySQL and MariaDB: no row is copied.
_COLUMNS = {
    "carried": "MEDIUMBLOB COMMENT 'Its bytes if they are too few for the upload; NULL once the next part has them'",
}
_COMMENTS = {
    "etag": "VARCHAR(255) NOT NULL COMMENT 'The ETag of the part; empty if it is not in the upload'",
    "checksum": "VARCHAR(16) NOT NULL COMMENT 'CRC-32 of the part in Base64; empty if it is not in the upload'",
}
_TABLE = "A part of the file of an export, and where the next one begins; rows are inserted, and lose only their bytes."


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    found = {each["name"] for each in inspect(op.get_bind()).get_columns("export_parts")}
    for column, definition in _COLUMNS.items():
        if column not in found:
            op.execute(f"ALTER TABLE export_parts ADD COLUMN {column} {definition}")
    for column, definition in _COMMENTS.items():
        op.execute(f"ALTER TABLE export_parts MODIFY COLUMN {column} {definition}")
    op.execute(f"ALTER TABLE export_parts COMMENT = '{_TABLE}'")
