"""Productions: Bates sequences, volumes, what is produced and each step's state; and the order of events."""

from __future__ import annotations

from alembic import op

from shell.migrations.presence import has_column

revision = "0004"
down_revision = "0003"

OURS = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

STATEMENTS = (
    f"""
    CREATE TABLE IF NOT EXISTS bates_sequences (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      case_id BIGINT NOT NULL,
      prefix VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
      digits SMALLINT NOT NULL,
      next_number BIGINT NOT NULL DEFAULT 1,
      version INT NOT NULL DEFAULT 1,
      UNIQUE KEY uq_bates_sequences_prefix (case_id, prefix)
    ) {OURS}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS insert_destinations (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      name VARCHAR(255) NOT NULL,
      next_position BIGINT NOT NULL DEFAULT 0,
      epoch BIGINT NOT NULL DEFAULT 0,
      UNIQUE KEY uq_insert_destinations_name (name)
    ) {OURS}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS productions (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      tenant_id VARCHAR(64) NOT NULL,
      case_id BIGINT NOT NULL,
      user_id VARCHAR(255) NOT NULL,
      volume VARCHAR(64) NOT NULL,
      prefix VARCHAR(64) NOT NULL,
      digits SMALLINT NOT NULL,
      start_at BIGINT,
      numbering VARCHAR(16) NOT NULL,
      selection MEDIUMTEXT NOT NULL,
      properties MEDIUMTEXT NOT NULL,
      status VARCHAR(16) NOT NULL,
      is_open SMALLINT NOT NULL DEFAULT 1,
      cancel_requested SMALLINT NOT NULL DEFAULT 0,
      generation INT NOT NULL DEFAULT 1,
      resumed INT NOT NULL DEFAULT 0,
      execution_arn VARCHAR(1024),
      failed_step VARCHAR(32),
      reason VARCHAR(1000),
      documents INT,
      sequence_id BIGINT,
      first_number BIGINT,
      last_number BIGINT,
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      version INT NOT NULL DEFAULT 1,
      KEY ix_productions_case (tenant_id, case_id, id),
      KEY ix_productions_tenant (tenant_id),
      KEY ix_productions_open (is_open, updated_at)
    ) {OURS}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS production_steps (
      production_id BIGINT NOT NULL,
      name VARCHAR(32) NOT NULL,
      place SMALLINT NOT NULL,
      status VARCHAR(16) NOT NULL,
      reason VARCHAR(1000),
      updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      PRIMARY KEY (production_id, name)
    ) {OURS}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS production_documents (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      production_id BIGINT NOT NULL,
      exhibit_id BIGINT NOT NULL,
      destination_id BIGINT NOT NULL,
      position BIGINT NOT NULL,
      sequence_id BIGINT NOT NULL,
      first_number BIGINT NOT NULL,
      last_number BIGINT NOT NULL,
      files TEXT NOT NULL,
      status VARCHAR(16) NOT NULL,
      UNIQUE KEY uq_production_documents_position (destination_id, position),
      UNIQUE KEY uq_production_documents_number (sequence_id, first_number),
      UNIQUE KEY uq_production_documents_exhibit (production_id, exhibit_id),
      KEY ix_production_documents_exhibit (exhibit_id)
    ) {OURS}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS outbox_state (
      id SMALLINT NOT NULL PRIMARY KEY,
      last_sequence BIGINT NOT NULL
    ) {OURS}
    """,
    # Until now an event's sequence was its id: milliseconds lie above all of those.
    """
    INSERT INTO outbox_state (id, last_sequence) VALUES (1, FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000))
    ON DUPLICATE KEY UPDATE last_sequence = last_sequence
    """,
)


ORDER_OF_EVENTS = """
    ALTER TABLE outbox_events
      ADD COLUMN sequence BIGINT,
      ADD COLUMN failures INT NOT NULL DEFAULT 0,
      ADD KEY ix_outbox_events_aggregate (aggregate_type, aggregate_id, published)
"""


def upgrade() -> None:
    """Add the tables, and what orders events; events that are there keep their rows."""
    for statement in STATEMENTS:
        op.execute(statement)
    if not has_column("outbox_events", "sequence"):
        op.execute(ORDER_OF_EVENTS)
