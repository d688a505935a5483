"""Giving up imports whose file never came.

Guaranteed: an import is given up only while it still awaits its file, under the lock of its row, and its event commits
with that; a file that comes later fails as one of an import that is over.
"""

from __future__ import annotations

from sqlalchemy import bindparam, text

from core.events import import_failed
from core.reasons import FileFailure
from shell.outbox_ops import append_events
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

EXPIRE_AFTER_DAYS = 7
EXPIRE_AT_ONCE = 100

_OVERDUE = text(
    "SELECT id FROM imports WHERE status = 'awaiting_upload' AND started_at < NOW(6) - INTERVAL :days DAY "
    "ORDER BY id LIMIT :most"
)
_STILL_AWAITED = text(
    "SELECT id, tenant_id FROM imports WHERE id IN :ids AND status = 'awaiting_upload' ORDER BY id FOR UPDATE"
).bindparams(bindparam("ids", expanding=True))
_EXPIRE = text(
    "UPDATE imports SET status = 'failed', failure_code = :code, failure_message = :message, finished_at = NOW(6) "
    "WHERE id IN :ids AND status = 'awaiting_upload'"
).bindparams(bindparam("ids", expanding=True))


def expire_uploads(limit: int) -> int:
    """Give up at most `limit` imports that have awaited their file for 7 days; returns how many there were.

    In transactions of at most 100; the publisher's schedule finds their events.
    """
    expired = 0
    while expired < limit:
        most = min(EXPIRE_AT_ONCE, limit - expired)
        ids = _overdue(most)
        expired += _expire(ids) if ids else 0
        if len(ids) < most:
            break
    return expired


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _overdue(most: int) -> list[int]:
    with session() as reading:
        return list(reading.execute(_OVERDUE, {"days": EXPIRE_AFTER_DAYS, "most": most}).scalars())


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _expire(ids: list[int]) -> int:
    """Give them up, but for those whose file has come meanwhile."""
    message = f"no file was uploaded within {EXPIRE_AFTER_DAYS} days; announce it again"
    code = FileFailure.NOT_UPLOADED.value
    with session() as transaction:
        rows = transaction.execute(_STILL_AWAITED, {"ids": ids}).all()
        if rows:
            values = {"code": code, "message": message, "ids": [row.id for row in rows]}
            transaction.execute(_EXPIRE, values)
            append_events(transaction, [import_failed(row.id, row.tenant_id, code) for row in rows])
    return len(rows)
