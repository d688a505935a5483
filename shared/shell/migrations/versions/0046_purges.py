"""Purges of cases: how far each is, what it has destroyed, and which objects it is about to delete.

The previous release reads and writes none of these tables.
"""

from __future__ import annotations

from alembic import op

revision = "0046"
down_revision = "0045"

_END = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"
_TABLES = (
    f"""
    CREATE TABLE IF NOT EXISTS case_purges (
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant that owned the case',
      epoch INT NOT NULL COMMENT 'cases.epoch since the purge began',
      phase VARCHAR(16) NOT NULL COMMENT 'What is done next, such as fence, objects or rows',
      position MEDIUMTEXT COMMENT 'How far the phase is, as JSON, keys of rows and objects; NULL at its beginning',
      turn INT NOT NULL DEFAULT 0 COMMENT 'Incremented by each worker that takes the purge on; older ones stop',
      next_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'When a worker may take the purge on (UTC): a lease, or a pause',
      began_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) COMMENT 'When it began (UTC)',
      ended_at DATETIME(6) COMMENT 'When the last look found no object (UTC); NULL before',
      PRIMARY KEY (case_id),
      KEY ix_case_purges_next (ended_at, next_at)
    ) COMMENT 'The purge of a case: its phase, its place, and which worker has the turn.' {_END}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS case_purge_counts (
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      kind VARCHAR(16) NOT NULL COMMENT 'rows, versions, markers or uploads',
      name VARCHAR(64) NOT NULL COMMENT 'The table, or the first part of the keys of the objects',
      total BIGINT NOT NULL COMMENT 'How many',
      size BIGINT NOT NULL COMMENT 'The bytes of the objects; 0 for rows',
      digest BINARY(32) NOT NULL COMMENT 'The chain over all of them',
      PRIMARY KEY (case_id, kind, name)
    ) COMMENT 'What a purge has destroyed of one table or one kind of object; each batch adds what it deletes.' {_END}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS case_purge_prefixes (
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      prefix_no INT NOT NULL COMMENT 'The number of the prefix, from 1',
      prefix VARCHAR(1024) NOT NULL COMMENT 'The beginning of the keys',
      suffix VARCHAR(64) NOT NULL COMMENT 'The end of the keys; empty for any',
      PRIMARY KEY (case_id, prefix_no)
    ) COMMENT 'What the keys of a case''s objects begin with; deleted at the end of the purge.' {_END}
    """,
    f"""
    CREATE TABLE IF NOT EXISTS case_purge_objects (
      id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'Internal number; do not cite it',
      case_id BIGINT NOT NULL COMMENT 'The case, cases.id',
      kind VARCHAR(16) NOT NULL COMMENT 'versions, markers or uploads',
      object_key VARCHAR(1024) NOT NULL COMMENT 'The key of the object',
      version_id VARCHAR(1024) NOT NULL COMMENT 'The version; of an upload in parts, its id',
      size BIGINT NOT NULL COMMENT 'The bytes of the version; 0 for others',
      is_locked SMALLINT NOT NULL DEFAULT 0
        COMMENT '1 if S3 refuses to delete it, as Object Lock does, else 0',
      locked_until DATETIME(6) COMMENT 'Until when its retention lasts (UTC); NULL without one, or for a legal hold',
      PRIMARY KEY (id),
      KEY ix_case_purge_objects_case (case_id, is_locked, id)
    ) COMMENT 'A version, delete marker or upload in parts that a purge is about to delete, or could not delete.'
    {_END}
    """,
)


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    for statement in _TABLES:
        op.execute(statement)
