"""What the HTTP API needs: uploads that are awaited, idempotency keys, semaphores for deployments without Redis."""

from __future__ import annotations

from alembic import op

from shell.migrations.presence import has_column

revision = "0002"
down_revision = "0001"

OURS = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

STATEMENTS = (
    f"""
    CREATE TABLE IF NOT EXISTS idempotency_keys (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      tenant_id VARCHAR(64) NOT NULL,
      route VARCHAR(128) NOT NULL,
      idempotency_key VARBINARY(255) NOT NULL,
      fingerprint BINARY(32) NOT NULL,
      status VARCHAR(16) NOT NULL,
      owner BINARY(16) NOT NULL,
      attempt INT NOT NULL,
      lease_until DATETIME(6) NOT NULL,
      status_code SMALLINT,
      response_headers TEXT,
      response_body MEDIUMTEXT,
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      UNIQUE KEY uq_idempotency_keys (tenant_id, route, idempotency_key),
      KEY ix_idempotency_keys_created (created_at)
    ) {OURS}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS semaphores (
      name BINARY(32) NOT NULL PRIMARY KEY,
      fence BIGINT NOT NULL DEFAULT 0
    ) {OURS}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS semaphore_holders (
      name BINARY(32) NOT NULL,
      token BINARY(16) NOT NULL,
      expires_at DATETIME(6) NOT NULL,
      PRIMARY KEY (name, token),
      KEY ix_semaphore_holders_expires (expires_at)
    ) {OURS}
    """,
)


AWAITED_UPLOADS = """
    ALTER TABLE imports
      ADD COLUMN upload_id VARCHAR(64),
      ADD COLUMN options MEDIUMTEXT,
      ADD UNIQUE KEY uq_imports_upload_id (tenant_id, upload_id),
      ADD KEY ix_imports_tenant (tenant_id)
"""


def upgrade() -> None:
    """Add what the API needs; imports that are there keep their rows."""
    for statement in STATEMENTS:
        op.execute(statement)
    if not has_column("imports", "upload_id"):
        op.execute(AWAITED_UPLOADS)
