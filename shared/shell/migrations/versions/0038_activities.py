"""Activities; labels of devices; how far the step of a production is; events for an event bus.

The previous release neither reads nor writes any of it: what it does has no activity, and an event that it publishes is
not published to the bus.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import inspect

revision = "0038"
down_revision = "0037"

_TABLE = """
    CREATE TABLE IF NOT EXISTS activities (
      id BIGINT NOT NULL AUTO_INCREMENT COMMENT 'Internal number; do not cite it',
      tenant_id VARCHAR(64) NOT NULL COMMENT 'The tenant to which the object belongs',
      case_id BIGINT COMMENT 'The case, cases.id; NULL for what belongs to the whole tenant',
      at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
        COMMENT 'When it was done, by the database''s clock (UTC)',
      user_id VARCHAR(255) COMMENT 'The user who did it; NULL for the application, without a request',
      action VARCHAR(64) NOT NULL COMMENT 'What was done, such as import.run',
      object_type VARCHAR(32) NOT NULL COMMENT 'The type of the object, such as import',
      object_id BIGINT NOT NULL COMMENT 'The id of the object; of a device, the tenant''s own number',
      summary TEXT NOT NULL COMMENT 'Ids, counts and codes, as JSON; never content of documents',
      PRIMARY KEY (id),
      KEY ix_activities_tenant (tenant_id, at),
      KEY ix_activities_case (tenant_id, case_id, at),
      KEY ix_activities_user (tenant_id, user_id, at),
      KEY ix_activities_action (tenant_id, action, at),
      KEY ix_activities_object (tenant_id, object_type, object_id, at)
    ) COMMENT 'Something that a user or the application did to an object; rows are inserted and never updated.'
    ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
"""
# INSTANT on MySQL and MariaDB: no row is copied.
_COLUMNS = {
    (
        "devices",
        "label",
    ): "VARCHAR(255) COLLATE utf8mb4_unicode_ci COMMENT 'What the tenant calls the device; NULL: nothing'",
    ("production_steps", "done"): (
        "INT COMMENT 'How many documents the step has processed; NULL for a step that does not count them'"
    ),
    ("production_steps", "total"): (
        "INT COMMENT 'How many documents the step will process; NULL for a step that does not count them'"
    ),
    ("outbox_events", "source_id"): (
        "BIGINT COMMENT 'The event that this row publishes to the event bus, outbox_events.id; NULL for SNS'"
    ),
}


def upgrade() -> None:
    """Create what is missing; a migration that was interrupted is completed."""
    op.execute(_TABLE)
    for (table, column), definition in _COLUMNS.items():
        if column not in {each["name"] for each in inspect(op.get_bind()).get_columns(table)}:
            op.execute(f"ALTER TABLE {table} ADD COLUMN {column} {definition}")
