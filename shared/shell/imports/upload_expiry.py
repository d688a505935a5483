"""Expire announced imports whose file was never uploaded.

Guaranteed: an import expires only while it awaits its file, under the lock on its row, and its event commits with the
new status; a file that is uploaded later does not start the expired import.
"""

from __future__ import annotations

from sqlalchemy import bindparam, text

from core.codes import FileFailure
from core.events import import_failed
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.outbox.writer import append_events
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

EXPIRE_AFTER_DAYS = 7
EXPIRE_BATCH = 100

_SELECT_OVERDUE = text(
    "SELECT id FROM imports WHERE status = 'awaiting_upload' AND started_at < NOW(6) - INTERVAL :days DAY "
    "ORDER BY id LIMIT :most"
)
_LOCK_AWAITED = text(
    "SELECT id, tenant_id, case_id FROM imports WHERE id IN :ids AND status = 'awaiting_upload' ORDER BY id FOR UPDATE"
).bindparams(bindparam("ids", expanding=True))
_EXPIRE = text(
    "UPDATE imports SET status = 'failed', failure_code = :code, failure_message = :message, finished_at = NOW(6) "
    "WHERE id IN :ids AND status = 'awaiting_upload'"
).bindparams(bindparam("ids", expanding=True))


def expire_uploads(limit: int) -> int:
    """Expire at most `limit` imports that have awaited their file for 7 days; return how many.

    Takes transactions of at most 100 imports. The delayed message that wakes the relay publishes their events.
    """
    expired = 0
    while expired < limit:
        most = min(EXPIRE_BATCH, limit - expired)
        ids = _find_overdue(most)
        expired += _expire(ids) if ids else 0
        if len(ids) < most:
            break
    return expired


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_overdue(most: int) -> list[int]:
    with session() as reading:
        return list(reading.execute(_SELECT_OVERDUE, {"days": EXPIRE_AFTER_DAYS, "most": most}).scalars())


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _expire(ids: list[int]) -> int:
    """Record the imports as failed, except those whose file was uploaded in the meantime; return how many."""
    message = f"no file was uploaded within {EXPIRE_AFTER_DAYS} days; announce the import again"
    code = FileFailure.NOT_UPLOADED.value
    with session() as transaction:
        rows = transaction.execute(_LOCK_AWAITED, {"ids": ids}).all()
        if rows:
            values = {"code": code, "message": message, "ids": [row.id for row in rows]}
            transaction.execute(_EXPIRE, values)
            append_events(transaction, [import_failed(row.id, row.tenant_id, code) for row in rows])
            for row in rows:
                record_own_act(transaction, row.tenant_id, Act(ActKind.IMPORT_EXPIRED, row.id, row.case_id))
    return len(rows)
