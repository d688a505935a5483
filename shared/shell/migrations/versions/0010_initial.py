"""Create every table.

Text of documents has the deployment's character set, all other text is utf8mb4. Names are compared by the Unicode
Collation Algorithm 5.2.0, the first version in which characters outside of the Basic Multilingual Plane are not all
equal; control numbers and Bates numbers are compared by bytes. Both collations exist in MySQL and in MariaDB.
"""

from __future__ import annotations

from alembic import context, op

# 0001 to 0006 were steps before the first release: a database at one of them is refused, not taken for migrated.
revision = "0010"
down_revision = None

APPLICATION_TEXT = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

APPLICATION_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS cases (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      tenant_id VARCHAR(64) NOT NULL,
      name VARCHAR(255) NOT NULL,
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      UNIQUE KEY uq_cases_tenant_name (tenant_id, name)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS imports (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      upload_key BINARY(32) NOT NULL,
      tenant_id VARCHAR(64) NOT NULL,
      case_id BIGINT NOT NULL,
      bucket VARCHAR(63) NOT NULL,
      object_key VARCHAR(1024) NOT NULL,
      version_id VARCHAR(1024),
      etag VARCHAR(255),
      size BIGINT NOT NULL,
      file_name VARCHAR(1024) NOT NULL,
      user_id VARCHAR(255) NOT NULL,
      upload_id VARCHAR(64),
      options MEDIUMTEXT,
      status VARCHAR(32) NOT NULL,
      failure_code VARCHAR(64),
      failure_message VARCHAR(1024),
      sha256 BINARY(32),
      encoding VARCHAR(16),
      delimiter VARCHAR(8),
      qualifier VARCHAR(8),
      date_orders VARCHAR(255),
      layout MEDIUMTEXT,
      rows_seen BIGINT NOT NULL DEFAULT 0,
      imported BIGINT NOT NULL DEFAULT 0,
      unchanged BIGINT NOT NULL DEFAULT 0,
      updated BIGINT NOT NULL DEFAULT 0,
      rejected BIGINT NOT NULL DEFAULT 0,
      warnings BIGINT NOT NULL DEFAULT 0,
      custodians_created BIGINT NOT NULL DEFAULT 0,
      tags_created BIGINT NOT NULL DEFAULT 0,
      chunk_count INT NOT NULL DEFAULT 0,
      chunks_left INT NOT NULL DEFAULT 0,
      generation INT NOT NULL DEFAULT 1,
      reports_generation INT NOT NULL DEFAULT 0,
      started_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      finished_at DATETIME(6),
      UNIQUE KEY uq_imports_upload_key (upload_key),
      UNIQUE KEY uq_imports_upload_id (tenant_id, upload_id),
      KEY ix_imports_case (case_id),
      KEY ix_imports_tenant (tenant_id)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS import_chunks (
      import_id BIGINT NOT NULL,
      chunk_no INT NOT NULL,
      byte_start BIGINT NOT NULL,
      byte_end BIGINT NOT NULL,
      first_line BIGINT NOT NULL,
      last_line BIGINT NOT NULL,
      row_count INT NOT NULL,
      sha256 BINARY(32) NOT NULL,
      status VARCHAR(16) NOT NULL DEFAULT 'pending',
      redrives SMALLINT NOT NULL DEFAULT 0,
      imported INT NOT NULL DEFAULT 0,
      unchanged INT NOT NULL DEFAULT 0,
      updated INT NOT NULL DEFAULT 0,
      rejected INT NOT NULL DEFAULT 0,
      warnings INT NOT NULL DEFAULT 0,
      finished_at DATETIME(6),
      PRIMARY KEY (import_id, chunk_no)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS import_duplicates (
      import_id BIGINT NOT NULL,
      line_no BIGINT NOT NULL,
      first_line BIGINT NOT NULL,
      PRIMARY KEY (import_id, line_no)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS import_rejections (
      import_id BIGINT NOT NULL,
      line_no BIGINT NOT NULL,
      seq INT NOT NULL,
      chunk_no INT NOT NULL,
      row_count INT NOT NULL DEFAULT 1,
      column_name VARCHAR(255),
      code VARCHAR(64) NOT NULL,
      message VARCHAR(1024) NOT NULL,
      control_number VARCHAR(255),
      byte_start BIGINT NOT NULL,
      byte_len BIGINT NOT NULL,
      PRIMARY KEY (import_id, line_no, seq)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS import_warnings (
      import_id BIGINT NOT NULL,
      line_no BIGINT NOT NULL,
      seq INT NOT NULL,
      chunk_no INT NOT NULL,
      column_name VARCHAR(255),
      code VARCHAR(64) NOT NULL,
      message VARCHAR(1024) NOT NULL,
      control_number VARCHAR(255),
      original BLOB,
      original_bytes BIGINT,
      stored_bytes BIGINT,
      byte_start BIGINT,
      byte_len BIGINT,
      PRIMARY KEY (import_id, line_no, seq)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS outbox_events (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      aggregate_type VARCHAR(64) NOT NULL,
      aggregate_id VARCHAR(64) NOT NULL,
      event_type VARCHAR(64) NOT NULL,
      payload TEXT NOT NULL,
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      published SMALLINT NOT NULL DEFAULT 0,
      lease_token VARCHAR(32),
      lease_until DATETIME(6),
      attempts INT NOT NULL DEFAULT 0,
      sequence BIGINT,
      failures INT NOT NULL DEFAULT 0,
      KEY ix_outbox_events_unpublished (published, id),
      KEY ix_outbox_events_aggregate (aggregate_type, aggregate_id, published)
    )
    """,
    """
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
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS semaphores (
      name BINARY(32) NOT NULL PRIMARY KEY,
      fencing_token BIGINT NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS semaphore_holders (
      name BINARY(32) NOT NULL,
      token BINARY(16) NOT NULL,
      expires_at DATETIME(6) NOT NULL,
      PRIMARY KEY (name, token),
      KEY ix_semaphore_holders_expires (expires_at)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS devices (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      tenant_id VARCHAR(64) NOT NULL,
      number BIGINT NOT NULL,
      version INT NOT NULL DEFAULT 1,
      UNIQUE KEY uq_devices_number (tenant_id, number)
    )
    """,
    """
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
    )
    """,
    """
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
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS bates_sequences (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      case_id BIGINT NOT NULL,
      prefix VARCHAR(64) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL,
      digits SMALLINT NOT NULL,
      next_number BIGINT NOT NULL DEFAULT 1,
      version INT NOT NULL DEFAULT 1,
      UNIQUE KEY uq_bates_sequences_prefix (case_id, prefix)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS insert_destinations (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      name VARCHAR(255) NOT NULL,
      advisory_id BIGINT NOT NULL,
      next_position BIGINT NOT NULL DEFAULT 0,
      fencing_token BIGINT NOT NULL DEFAULT 0,
      UNIQUE KEY uq_insert_destinations_name (name),
      UNIQUE KEY uq_insert_destinations_advisory (advisory_id)
    )
    """,
    """
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
      resumptions INT NOT NULL DEFAULT 0,
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
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS production_steps (
      production_id BIGINT NOT NULL,
      name VARCHAR(32) NOT NULL,
      position SMALLINT NOT NULL,
      status VARCHAR(16) NOT NULL,
      reason VARCHAR(1000),
      updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      PRIMARY KEY (production_id, name)
    )
    """,
    """
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
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS outbox_state (
      id SMALLINT NOT NULL PRIMARY KEY,
      last_sequence BIGINT NOT NULL
    )
    """,
)

DOCUMENT_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS import_name_occurrences (
      import_id BIGINT NOT NULL,
      chunk_no INT NOT NULL,
      seq INT NOT NULL,
      kind VARCHAR(16) NOT NULL,
      name VARCHAR(500) NOT NULL,
      line_no BIGINT NOT NULL,
      column_name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
      PRIMARY KEY (import_id, chunk_no, seq)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS exhibits (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      case_id BIGINT NOT NULL,
      control_number VARCHAR(255) COLLATE {charset}_bin NOT NULL,
      bates_begin VARCHAR(255) COLLATE {charset}_bin,
      bates_end VARCHAR(255) COLLATE {charset}_bin,
      parent_control_number VARCHAR(255) COLLATE {charset}_bin,
      title VARCHAR(1024),
      file_name VARCHAR(1024),
      document_date DATETIME(6),
      native_path VARCHAR(1024),
      text_path VARCHAR(1024),
      document_properties TEXT,
      row_hash BINARY(32),
      import_id BIGINT NOT NULL,
      line_no BIGINT NOT NULL,
      line_count INT NOT NULL DEFAULT 1,
      version INT NOT NULL DEFAULT 1,
      UNIQUE KEY uq_exhibits_control_number (case_id, control_number)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS custodians (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      case_id BIGINT NOT NULL,
      name VARCHAR(255) NOT NULL,
      import_id BIGINT,
      line_no BIGINT,
      created_at_gmt DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      version INT NOT NULL DEFAULT 1,
      UNIQUE KEY uq_custodians_name (case_id, name),
      KEY ix_custodians_import (import_id)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS tags (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
      case_id BIGINT NOT NULL,
      name VARCHAR(500) NOT NULL,
      import_id BIGINT,
      line_no BIGINT,
      created_at_gmt DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
      version INT NOT NULL DEFAULT 1,
      UNIQUE KEY uq_tags_name (case_id, name),
      KEY ix_tags_import (import_id)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS custodian_exhibits (
      exhibit_id BIGINT NOT NULL,
      custodian_id BIGINT NOT NULL,
      user_id VARCHAR(255) NOT NULL,
      PRIMARY KEY (exhibit_id, custodian_id),
      KEY ix_custodian_exhibits_custodian (custodian_id),
      CONSTRAINT fk_custodian_exhibits_exhibit FOREIGN KEY (exhibit_id) REFERENCES exhibits (id),
      CONSTRAINT fk_custodian_exhibits_custodian FOREIGN KEY (custodian_id) REFERENCES custodians (id)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS taggings (
      exhibit_id BIGINT NOT NULL,
      tag_id BIGINT NOT NULL,
      user_id VARCHAR(255) NOT NULL,
      PRIMARY KEY (exhibit_id, tag_id),
      KEY ix_taggings_tag (tag_id),
      CONSTRAINT fk_taggings_exhibit FOREIGN KEY (exhibit_id) REFERENCES exhibits (id),
      CONSTRAINT fk_taggings_tag FOREIGN KEY (tag_id) REFERENCES tags (id)
    )
    """,
)


# The first sequence is the clock's milliseconds, so that a database created later never issues an earlier one.
FIRST_SEQUENCE = """
    INSERT INTO outbox_state (id, last_sequence) VALUES (1, FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000))
    ON DUPLICATE KEY UPDATE last_sequence = last_sequence
"""


def upgrade() -> None:
    """Create every table; each statement can be repeated after a migration that was interrupted between two of them."""
    charset = context.config.attributes["charset"]
    document_text = f"ENGINE=InnoDB DEFAULT CHARSET={charset} COLLATE={charset}_unicode_520_ci"
    for statement in DOCUMENT_TABLES:
        op.execute(statement.format(charset=charset) + document_text)
    for statement in APPLICATION_TABLES:
        op.execute(statement + APPLICATION_TEXT)
    op.execute(FIRST_SEQUENCE)
