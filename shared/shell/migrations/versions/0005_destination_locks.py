"""One 63-bit lock id for every destination: minted once, and the same for every worker from then on."""

from __future__ import annotations

import secrets

from alembic import op
from sqlalchemy import text

from shell.migrations.presence import has_column, has_key

revision = "0005"
down_revision = "0004"

_WITHOUT = text("SELECT id FROM insert_destinations WHERE advisory_id IS NULL")
_MINT = text("UPDATE insert_destinations SET advisory_id = :minted WHERE id = :id")


def upgrade() -> None:
    """Nullable column, an id for each destination that has none, then NOT NULL; on an empty table nothing to mint.

    DDL commits by itself, and a migration may die between two statements: each looks at what is there already. Ids that
    were minted before are kept, for workers may hold locks by them. The last statement is all or nothing, so its key
    says that it was executed; only the revision's number may be missing then.
    """
    connection = op.get_bind()
    if not has_column("insert_destinations", "advisory_id"):
        op.execute("ALTER TABLE insert_destinations ADD COLUMN advisory_id BIGINT")
    for row in connection.execute(_WITHOUT).all():
        connection.execute(_MINT, {"minted": secrets.randbits(63), "id": row.id})
    if not has_key("insert_destinations", "uq_insert_destinations_advisory"):
        op.execute(
            """
            ALTER TABLE insert_destinations
              MODIFY COLUMN advisory_id BIGINT NOT NULL,
              ADD UNIQUE KEY uq_insert_destinations_advisory (advisory_id)
            """
        )
