"""The tables of the import.

Text of documents takes the deployment's character set, what we say about the import is utf8mb4. Names compare by the
Unicode collation algorithm (5.2.0: the first one for which characters beyond the basic plane are not all equal),
control numbers and Bates numbers by bytes. Both collations exist in MySQL and in MariaDB.
"""

from __future__ import annotations

from alembic import context, op

revision = "0001"
down_revision = None

OURS = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"

ABOUT_THE_IMPORT = (
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
      KEY ix_imports_case (case_id)
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
      settled_at DATETIME(6),
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
      claim_token VARCHAR(32),
      lease_until DATETIME(6),
      attempts INT NOT NULL DEFAULT 0,
      KEY ix_outbox_events_unpublished (published, id)
    )
    """,
)

OUT_OF_LOAD_FILES = (
    """
    CREATE TABLE IF NOT EXISTS import_names (
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


def upgrade() -> None:
    """Create what the import reads and writes."""
    charset = context.config.attributes["charset"]
    theirs = f"ENGINE=InnoDB DEFAULT CHARSET={charset} COLLATE={charset}_unicode_520_ci"
    for statement in ABOUT_THE_IMPORT:
        op.execute(statement + OURS)
    for statement in OUT_OF_LOAD_FILES:
        op.execute(statement.format(charset=charset) + theirs)
