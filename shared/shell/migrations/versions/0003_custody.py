"""Custody: devices, the periods in which somebody held them, and every change of those."""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"

OURS = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

STATEMENTS = (
    f"""
    CREATE TABLE IF NOT EXISTS devices (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      tenant_id VARCHAR(64) NOT NULL,
      number BIGINT NOT NULL,
      version INT NOT NULL DEFAULT 1,
      UNIQUE KEY uq_devices_number (tenant_id, number)
    ) {OURS}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS custody_periods (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      device_id BIGINT NOT NULL,
      begin_at DATETIME(6) NOT NULL,
      end_at DATETIME(6) NOT NULL,
      custodian_id BIGINT,
      note VARCHAR(1000),
      version INT NOT NULL DEFAULT 1,
      KEY ix_custody_periods_overlap (device_id, end_at, begin_at),
      KEY ix_custody_periods_custodian (custodian_id),
      CONSTRAINT ck_custody_periods_order CHECK (begin_at < end_at),
      CONSTRAINT fk_custody_periods_custodian FOREIGN KEY (custodian_id) REFERENCES custodians (id)
    ) {OURS}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS custody_changes (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      period_id BIGINT NOT NULL,
      version INT NOT NULL,
      action VARCHAR(16) NOT NULL,
      user_id VARCHAR(255) NOT NULL,
      changed_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      device_id BIGINT NOT NULL,
      begin_at DATETIME(6) NOT NULL,
      end_at DATETIME(6) NOT NULL,
      custodian_id BIGINT,
      note VARCHAR(1000),
      UNIQUE KEY uq_custody_changes_version (period_id, version),
      KEY ix_custody_changes_device (device_id, id),
      KEY ix_custody_changes_custodian (custodian_id)
    ) {OURS}
    """,
)


def upgrade() -> None:
    """Add the tables; each can be added again where a migration died between two of them."""
    for statement in STATEMENTS:
        op.execute(statement)
