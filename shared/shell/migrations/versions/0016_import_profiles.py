"""Mapping profiles, and the profile that an import used."""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0016"
down_revision = "0015"

CREATE_TABLE = """
    CREATE TABLE IF NOT EXISTS import_profiles (
      id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'The number of the profile in the API',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the profile',
      name VARCHAR(255) NOT NULL COMMENT 'The name, unique within the tenant',
      options MEDIUMTEXT NOT NULL COMMENT 'The options and columns, as JSON',
      header_fingerprint BINARY(32)
        COMMENT 'SHA-256 of the delimiter and header that the profile is suggested for; NULL for none',
      created_by VARCHAR(255) NOT NULL COMMENT 'The user who created the profile',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the profile was created (UTC)',
      updated_by VARCHAR(255) NOT NULL COMMENT 'The user who changed the profile last',
      updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When the profile was changed last (UTC)',
      version INT NOT NULL DEFAULT 1
        COMMENT 'Incremented by every change; a client''s change of an older version is refused',
      UNIQUE KEY uq_import_profiles_name (tenant_id, name),
      KEY ix_import_profiles_header (tenant_id, header_fingerprint)
    ) COMMENT='A named set of options and columns for load files; an import that uses it keeps a copy.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
# INSTANT on MySQL and MariaDB: no row is copied.
ADD_COLUMNS = {
    "profile_name": """
        ALTER TABLE imports ADD COLUMN profile_name VARCHAR(255)
          COMMENT 'The mapping profile that the import uses a copy of; NULL for none'
    """,
    "profile_version": """
        ALTER TABLE imports ADD COLUMN profile_version INT
          COMMENT 'The version of the profile that was copied; NULL without a profile'
    """,
}


def upgrade() -> None:
    """Create the table and add the columns, unless a migration that was interrupted did."""
    op.execute(CREATE_TABLE)
    existing = {column["name"] for column in inspect(op.get_bind()).get_columns("imports")}
    for name, statement in ADD_COLUMNS.items():
        if name not in existing:
            op.execute(statement)
