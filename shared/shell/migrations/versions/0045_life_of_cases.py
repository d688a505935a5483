"""The life of a case: its status, its hold, its requested purge, its former names and the record of its changes.

The previous release reads and writes none of it: each case is open to it.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0045"
down_revision = "0044"

_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS case_changes (
      id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'Internal number; do not cite it',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the case',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      kind VARCHAR(32) NOT NULL COMMENT 'What was changed, such as closed, held or purge_requested',
      user_id VARCHAR(255) COMMENT 'The user who did it; NULL for the application, without a request',
      at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When it was done, by the database''s clock (UTC)',
      details TEXT NOT NULL COMMENT 'Ids, counts and days, as JSON; never a name',
      note VARCHAR(1000) COMMENT 'What the user stated as the reason; NULL without one, and after the purge',
      PRIMARY KEY (id),
      KEY ix_case_changes_case (tenant_id, case_id, id)
    ) COMMENT 'A change of a case: what was done to it, by which user and when.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
    """,
    """
    CREATE TABLE IF NOT EXISTS case_aliases (
      id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'Internal number; do not cite it',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the case',
      case_id BIGINT NOT NULL COMMENT 'The case that had the name, cases.id',
      name VARCHAR(255) COMMENT 'The former name; NULL once the case is purged',
      name_hash BINARY(32) NOT NULL COMMENT 'SHA-256 of the name without spaces at its end',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When it became a former name (UTC)',
      PRIMARY KEY (id),
      UNIQUE KEY uq_case_aliases_tenant_name (tenant_id, name),
      KEY ix_case_aliases_hash (tenant_id, name_hash),
      KEY ix_case_aliases_case (case_id)
    ) COMMENT 'A former name of a case, by which late uploads still find it.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
    """,
)
# INSTANT on MySQL and MariaDB: no row is copied.
_COLUMNS = {
    "cases": {
        "status": "VARCHAR(16) COLLATE utf8mb4_bin NOT NULL DEFAULT 'open' "
        "COMMENT 'open, closed, purging or purged; a hold is not a status'",
        "version": "INT NOT NULL DEFAULT 1 COMMENT 'Incremented by every change; the ETag of the API'",
        "epoch": "INT NOT NULL DEFAULT 0 COMMENT 'Incremented when a purge begins; work with an older one is fenced'",
        "hold_reason": "VARCHAR(1000) COLLATE utf8mb4_bin COMMENT 'Why nothing of the case may be removed; NULL "
        "without a hold'",
        "held_by": "VARCHAR(255) COLLATE utf8mb4_bin COMMENT 'The user who placed the hold; NULL without a hold'",
        "held_at": "DATETIME(6) COMMENT 'When the hold was placed (UTC); NULL without a hold'",
        "purge_after": "DATE COMMENT 'The first day (UTC) on which the requested purge may begin; NULL without a "
        "request'",
        "purge_requested_by": "VARCHAR(255) COLLATE utf8mb4_bin COMMENT 'The user who requested the purge; NULL "
        "without a request'",
        "purge_requested_at": "DATETIME(6) COMMENT 'When the purge was requested (UTC); NULL without a request'",
    },
    "idempotency_keys": {
        "case_id": "BIGINT COMMENT 'The case that the response tells of, cases.id; NULL if none, or not known'",
    },
}
_INDEXES = {
    "cases": {"ix_cases_purge_after": "purge_after"},
    "idempotency_keys": {"ix_idempotency_keys_case": "case_id"},
}


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    database = inspect(op.get_bind())
    for statement in _TABLES:
        op.execute(statement)
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
