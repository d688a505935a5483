"""Names of users, and an index that finds the last import of a case.

Versions before this one neither read nor write the table.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0034"
down_revision = "0033"

TABLE = """
    CREATE TABLE IF NOT EXISTS users (
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant of the user',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user, the claim sub of the token',
      name VARCHAR(255) NOT NULL COMMENT 'The name, from the claim that the deployment names',
      seen_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When a token first had this name (UTC)',
      PRIMARY KEY (tenant_id, user_id)
    ) COMMENT 'The name of a user, as the user''s tokens had it last.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
ADD_INDEX = """
    ALTER TABLE imports ADD INDEX ix_imports_case_started (case_id, started_at), ALGORITHM=INPLACE, LOCK=NONE
"""


def upgrade() -> None:
    """Create the table and the index; a migration that was interrupted is completed."""
    op.execute(TABLE)
    if "ix_imports_case_started" not in {each["name"] for each in inspect(op.get_bind()).get_indexes("imports")}:
        op.execute(ADD_INDEX)
