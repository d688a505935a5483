"""Prepare a database that was restored from a snapshot.

Guaranteed: no id and no event sequence that was issued between the snapshot and the restore is issued again. They are
in the bucket's object keys, in queued messages, and with consumers of the events.
Not guaranteed: anything about Bates numbers, which belong to the case; docs/operations.md says how to handle them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text

from shell.db.retry import rerun_if_unknown, retry_on_db_conflict
from shell.db.session import session
from shell.observability import logger

# More than a database issues in the weeks that a restore goes back; a BIGINT has room for nine billion such steps.
STEP = 1_000_000_000

_AUTO_INCREMENT_COLUMNS = text(
    "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS "
    "WHERE TABLE_SCHEMA = DATABASE() AND EXTRA LIKE '%auto_increment%' ORDER BY TABLE_NAME"
)
# Sequences start at the clock's milliseconds and grow more slowly than the clock, so its value now is greater than all
# that were issued.
_ADVANCE_SEQUENCE = text(
    "UPDATE outbox_state SET last_sequence = GREATEST(last_sequence, FLOOR(UNIX_TIMESTAMP(NOW(3)) * 1000)) WHERE id = 1"
)


def is_restored_from_snapshot(event: Mapping[str, Any]) -> bool:
    """Return whether CloudFormation's event says that the database was replaced by one restored from a snapshot."""
    now, before = event.get("ResourceProperties") or {}, event.get("OldResourceProperties") or {}
    return bool(now.get("Snapshot")) and now.get("Database") != before.get("Database")


@retry_on_db_conflict(resolve=rerun_if_unknown)
def skip_issued_ids() -> None:
    """Advance AUTO_INCREMENT values and the event sequence past all that may have been issued since the snapshot.

    Repeating it only leaves a larger gap.
    """
    with session() as transaction:
        tables = transaction.execute(_AUTO_INCREMENT_COLUMNS).all()
        transaction.execute(_ADVANCE_SEQUENCE)
        for table, column in tables:
            largest = text(f"SELECT COALESCE(MAX(`{column}`), 0) FROM `{table}`")  # noqa: S608 - names from the schema
            last = int(transaction.execute(largest).scalar_one())
            transaction.execute(text(f"ALTER TABLE `{table}` AUTO_INCREMENT = {last + STEP}"))
    logger.warning("advanced ids past those of the lost database", extra={"step": STEP, "tables": len(tables)})
