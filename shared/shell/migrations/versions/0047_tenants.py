"""Tenants, with a row for each that has a case.

The previous release neither reads nor writes the table: a tenant that first comes to it gets its row at its next
request to this one.
"""

from __future__ import annotations

from alembic import op

revision = "0047"
down_revision = "0046"

TABLE = """
    CREATE TABLE IF NOT EXISTS tenants (
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant, the claim of its tokens',
      status VARCHAR(16) NOT NULL DEFAULT 'active'
        COMMENT 'active, read_only, suspended or leaving (read-only, while it moves)',
      limits TEXT COMMENT 'The limits that are the tenant''s own, as JSON; NULL for those of the deployment',
      epoch BIGINT NOT NULL DEFAULT 0 COMMENT 'Incremented by each change of the status',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the tenant was created (UTC)',
      changed_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'When its status or its limits were last changed (UTC)',
      reason VARCHAR(255)
        COMMENT 'Why the status is what it is, for the tenant''s users; NULL if no reason was given',
      PRIMARY KEY (tenant_id)
    ) COMMENT 'A tenant of the deployment: its status and its limits.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
# The index of the names of cases gives each tenant once.
EXISTING = (
    "INSERT INTO tenants (tenant_id) SELECT DISTINCT tenant_id FROM cases "
    "ON DUPLICATE KEY UPDATE tenant_id = tenants.tenant_id"
)


def upgrade() -> None:
    """Create the table and its rows; a migration that was interrupted is completed."""
    op.execute(TABLE)
    op.execute(EXISTING)
