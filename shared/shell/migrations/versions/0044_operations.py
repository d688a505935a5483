"""What the page of operations reads: indexes by status, and whose a dead-lettered event is and why it was refused.

The previous release writes none of the columns: its dead letters, and chunks that it gives up, are not listed.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0044"
down_revision = "0043"

# INSTANT on MySQL and MariaDB: no row is copied.
_COLUMNS = {
    "outbox_events": {
        "tenant_id": "VARCHAR(64) COMMENT 'The tenant of an event that was refused for good; NULL for all others'",
        "refusal": "VARCHAR(64) COMMENT 'The error code of the last refusal of such an event; NULL for all others'",
        "dead_lettered_at": "DATETIME(6) COMMENT 'When it was refused for good last (UTC); NULL if never, or by an "
        "earlier version'",
    },
    "imports": {
        "chunks_failed": "INTEGER NOT NULL DEFAULT 0 COMMENT 'Chunks that failed in every attempt since the last "
        "retry; those of an earlier version do not count'",
    },
}
_ENDED = "tenant_id, status, finished_at"
_INDEXES = {
    "outbox_events": {"ix_outbox_events_tenant": "tenant_id, published, id"},
    "imports": {"ix_imports_operations": _ENDED, "ix_imports_chunks_failed": "tenant_id, status, chunks_failed"},
    "volumes": {"ix_volumes_operations": _ENDED},
    "exports": {"ix_exports_operations": _ENDED},
    "tagging_jobs": {"ix_tagging_jobs_operations": _ENDED},
    "productions": {"ix_productions_operations": "tenant_id, status, id"},
}
# Few rows, by the index of what is not published. A payload that is no JSON names no tenant.
_NAME_TENANTS = (
    "UPDATE outbox_events FORCE INDEX (ix_outbox_events_unpublished) "
    "SET tenant_id = NULLIF(JSON_UNQUOTE(JSON_EXTRACT(payload, '$.tenantId')), '') "
    "WHERE published IN (2, 5) AND tenant_id IS NULL AND JSON_VALID(payload)"
)


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    database = inspect(op.get_bind())
    for table, columns in _COLUMNS.items():
        found = {each["name"] for each in database.get_columns(table)}
        for column, definition in columns.items():
            if column not in found:
                op.execute(f"ALTER TABLE {table} ADD COLUMN {column} {definition}")
    for table, indexes in _INDEXES.items():
        known = {each["name"] for each in database.get_indexes(table)}
        for index, columns_of_index in indexes.items():
            if index not in known:
                op.execute(f"CREATE INDEX {index} ON {table} ({columns_of_index})")
    op.execute(_NAME_TENANTS)
