"""A database that began as a snapshot, under code that has gone on since.

Guaranteed: no id and no place in an order that was given out between the snapshot and now is given out again. They
stand in keys of the bucket, in messages that are still under way, and with whoever follows the events.
Not guaranteed: anything about Bates numbers, which are the case's own; docs/operations.md says what to do about them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text

from shell.observability import logger
from shell.utils.db_session import session
from shell.utils.replaying import repeating_is_harmless, retry_on_db_conflict

# More than a database makes in the weeks that a restore reaches back; a BIGINT holds nine billions of such steps.
STEP = 1_000_000_000

_NUMBERED = text(
    "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS "
    "WHERE TABLE_SCHEMA = DATABASE() AND EXTRA LIKE '%auto_increment%' ORDER BY TABLE_NAME"
)
# As the sequence began: later than every place that was given out by a clock which went on.
_SEQUENCE = text(
    "UPDATE outbox_state SET last_sequence = GREATEST(last_sequence, FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)) WHERE id = 1"
)


def begins_as_snapshot(event: Mapping[str, Any]) -> bool:
    """Whether CloudFormation says that the database is another one than before, made of a snapshot."""
    now, before = event.get("ResourceProperties") or {}, event.get("OldResourceProperties") or {}
    return bool(now.get("Snapshot")) and now.get("Database") != before.get("Database")


@retry_on_db_conflict(resolve=repeating_is_harmless)
def step_over_what_was_given_out() -> None:
    """Go on with ids and sequences behind all that the snapshot may lack; done twice, it leaves a larger gap."""
    with session() as transaction:
        tables = transaction.execute(_NUMBERED).all()
        transaction.execute(_SEQUENCE)
        for table, column in tables:
            largest = text(f"SELECT COALESCE(MAX(`{column}`), 0) FROM `{table}`")  # noqa: S608 - names of the schema
            last = int(transaction.execute(largest).scalar_one())
            transaction.execute(text(f"ALTER TABLE `{table}` AUTO_INCREMENT = {last + STEP}"))
    logger.warning("ids go on behind those of the lost database", extra={"step": STEP, "tables": len(tables)})
