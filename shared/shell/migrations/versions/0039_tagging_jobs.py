"""Jobs that tag all exhibits which match filters, and which of them made a change of an exhibit.

The previous release keeps writing rows of the history without a job, and does not read the column. A column at the end
of a table is added without copying its rows (see 0023); a server that would copy them refuses instead.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0039"
down_revision = "0038"

_TABLE = """
    CREATE TABLE IF NOT EXISTS tagging_jobs (
      id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'The number of the job',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owns the case',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      user_id VARCHAR(255) NOT NULL COMMENT 'The user who requested the job; its changes are those of this user',
      request MEDIUMTEXT NOT NULL COMMENT 'The filters (query) and the names of tags (add, remove), as JSON',
      highest_id BIGINT NOT NULL
        COMMENT 'The highest exhibits.id at the request; exhibits above it are not tagged',
      expected BIGINT COMMENT 'How many exhibits matched at the request; NULL if that was not counted',
      status VARCHAR(16) NOT NULL DEFAULT 'running'
        COMMENT 'running, counting, completed, cancelled or failed',
      turn INT NOT NULL DEFAULT 1 COMMENT 'Which message has the work; one of another turn has no effect',
      import_id BIGINT NOT NULL DEFAULT 0
        COMMENT 'The import whose exhibits are reached now, imports.id; 0 at the begin',
      line_no BIGINT NOT NULL DEFAULT 0 COMMENT 'The last line of that import that was reached',
      tagged BIGINT NOT NULL DEFAULT 0 COMMENT 'Exhibits that matched under their locks',
      created BIGINT NOT NULL DEFAULT 0 COMMENT 'Taggings created',
      removed BIGINT NOT NULL DEFAULT 0 COMMENT 'Taggings removed',
      remaining BIGINT NOT NULL DEFAULT 0
        COMMENT 'Exhibits, counted last, that matched and did not have the tags',
      imports_beside TEXT
        COMMENT 'Imports that wrote or were undone while they were counted, as JSON; NULL before',
      counting_at DATETIME(6) COMMENT 'When counting began (UTC)',
      created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When it was requested (UTC)',
      finished_at DATETIME(6) COMMENT 'When it ended (UTC)',
      PRIMARY KEY (id),
      KEY ix_tagging_jobs_case (tenant_id, case_id, id),
      KEY ix_tagging_jobs_tenant (tenant_id)
    ) COMMENT 'A job that tags the exhibits of a case which match filters.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
_ADD_COLUMN = """
    ALTER TABLE exhibit_changes ADD COLUMN tagging_job_id BIGINT
      COMMENT 'The job that made the change, tagging_jobs.id; NULL if none did', ALGORITHM=INSTANT
"""


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    op.execute(_TABLE)
    columns = inspect(op.get_bind()).get_columns("exhibit_changes")
    if "tagging_job_id" not in {each["name"] for each in columns}:
        op.execute(_ADD_COLUMN)
