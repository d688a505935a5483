"""Prepare a database that was restored from a snapshot.

Guaranteed: no id and no event sequence that was issued between the snapshot and the restore is issued again. They are
in the bucket's object keys, in queued messages, and with consumers of the events.
Not guaranteed: anything about Bates numbers, which belong to the case; docs/operations.md says how to handle them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from shell.db.ids import INCREMENT
from shell.db.retry import rerun_if_unknown, retry_on_db_conflict
from shell.db.session import session
from shell.observability import logger

# A billion ids of a cell: more than a database issues in the weeks that a restore goes back. There is room for nine
# thousand such steps below the largest id (`shell.db.ids`).
STEP = 1_000_000_000 * INCREMENT

_AUTO_INCREMENT_COLUMNS = text(
    "SELECT c.TABLE_NAME, c.COLUMN_NAME, COALESCE(t.AUTO_INCREMENT, 0) FROM information_schema.COLUMNS AS c "
    "JOIN information_schema.TABLES AS t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME "
    "WHERE c.TABLE_SCHEMA = DATABASE() AND c.EXTRA LIKE '%auto_increment%' ORDER BY c.TABLE_NAME"
)
# Without it, MySQL shows AUTO_INCREMENT values of up to a day ago. MariaDB shows the present ones, has no such variable
# and skips comments with that version ("Comment Syntax").
_SHOW_PRESENT_VALUES = text("SET /*!80000 SESSION information_schema_stats_expiry = 0, */ @present = 1")
# Ids of exhibits that exist no more.
_KEPT_IDS = (("exhibit_tombstones", "exhibit_id"), ("exhibit_changes", "exhibit_id"))
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

    Repeating it only leaves a larger gap. All tables go on from one number, greater than every AUTO_INCREMENT value,
    because InnoDB accepts one that is lower than the present one, and than every id, because a dump that was loaded may
    have lost the values. The compressed history is not searched for ids of page sets: the import that made one began
    after the last advance, so that its own id is at most one step less.
    """
    with session() as transaction:
        transaction.execute(_SHOW_PRESENT_VALUES)
        tables = transaction.execute(_AUTO_INCREMENT_COLUMNS).all()
        transaction.execute(_ADVANCE_SEQUENCE)
        numbered = [*_KEPT_IDS, *((table, column) for table, column, _ in tables)]
        start = STEP + max(*(value for *_, value in tables), *(_find_largest(transaction, *each) for each in numbered))
        for table, *_ in tables:
            transaction.execute(text(f"ALTER TABLE `{table}` AUTO_INCREMENT = {start}"))
    logger.warning("advanced ids past those of the lost database", extra={"step": STEP, "tables": len(tables)})


def _find_largest(reading: Session, table: str, column: str) -> int:
    largest = text(f"SELECT COALESCE(MAX(`{column}`), 0) FROM `{table}`")  # noqa: S608 - names from the schema
    return int(reading.execute(largest).scalar_one())
