"""Expire announced imports whose file was never uploaded, and those that were held and never run.

Guaranteed: an import expires only while it awaits its file or is held, under the lock on its row, and its event commits
with the new status; a file that is uploaded later does not start the expired import. The file of one that was held
stays, and a retry holds it again. Images that are held with it are blocked; those that are still held when their data
file has been imported expire by a clock of their own. Nothing of a case under a legal hold expires.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.codes import FileFailure
from core.events import import_failed
from core.statuses import ImportStatus
from shell.activity_log import Act, ActKind, record_own_act
from shell.db.session import session
from shell.imports.state.dependents import block_dependents
from shell.outbox.writer import append_events
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

EXPIRE_AFTER_DAYS, HELD_DAYS = 7, 30
EXPIRE_BATCH = 100

# `started_at` is also that of the last change of options. Images share the clock of the data file that they come after,
# until it has been imported.
_IS_OVERDUE = (
    "status = :status AND started_at < NOW(6) - INTERVAL :days DAY AND (after_import_id IS NULL OR EXISTS "
    "(SELECT 1 FROM imports AS data WHERE data.id = imports.after_import_id AND data.status IN ('completed', "
    "'completed_with_rejections', 'undone', 'undone_with_conflicts', 'undo_failed') "
    "AND data.finished_at < NOW(6) - INTERVAL :days DAY)) "
    "AND NOT EXISTS (SELECT 1 FROM cases AS held WHERE held.id = imports.case_id AND held.held_at IS NOT NULL)"
)
_SELECT_OVERDUE = text(f"SELECT id FROM imports WHERE {_IS_OVERDUE} ORDER BY id LIMIT :most")  # noqa: S608
_FIND_BEFORE = text(
    "SELECT DISTINCT after_import_id FROM imports WHERE id IN :ids AND after_import_id IS NOT NULL"
).bindparams(bindparam("ids", expanding=True))
_LOCK_BEFORE = text("SELECT id FROM imports WHERE id IN :ids ORDER BY id FOR UPDATE").bindparams(
    bindparam("ids", expanding=True)
)
_LOCK_OVERDUE = text(
    f"SELECT id, tenant_id, case_id FROM imports WHERE id IN :ids AND {_IS_OVERDUE} "  # noqa: S608
    "ORDER BY id FOR UPDATE"
).bindparams(bindparam("ids", expanding=True))
_EXPIRE = text(
    "UPDATE imports SET status = 'failed', failure_code = :code, failure_message = :message, finished_at = NOW(6) "
    "WHERE id IN :ids AND status = :status"
).bindparams(bindparam("ids", expanding=True))


class Expiry(NamedTuple):
    """Imports that expire after so many days with a status, and why they then have failed."""

    status: ImportStatus
    days: int
    code: FileFailure
    message: str


_AWAITED = Expiry(
    ImportStatus.AWAITING_UPLOAD,
    EXPIRE_AFTER_DAYS,
    FileFailure.NOT_UPLOADED,
    f"no file was uploaded within {EXPIRE_AFTER_DAYS} days; announce the import again",
)
_HELD = Expiry(
    ImportStatus.UPLOADED,
    HELD_DAYS,
    FileFailure.HELD_TOO_LONG,
    f"the import was held for {HELD_DAYS} days; retry it to hold it again, then have it checked or run",
)


def expire_uploads(limit: int) -> int:
    """Expire at most `limit` imports that await their file for 7 days, and as many held for 30; return how many.

    Takes transactions of at most 100 imports. The delayed message that wakes the relay publishes their events.
    """
    return _expire_all(_AWAITED, limit) + _expire_all(_HELD, limit)


def _expire_all(expiry: Expiry, limit: int) -> int:
    expired = 0
    while expired < limit:
        most = min(EXPIRE_BATCH, limit - expired)
        ids = _find_overdue(expiry, most)
        expired += _expire(expiry, ids) if ids else 0
        if len(ids) < most:
            break
    return expired


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_overdue(expiry: Expiry, most: int) -> list[int]:
    with session() as reading:
        values = {"status": expiry.status.value, "days": expiry.days, "most": most}
        return list(reading.execute(_SELECT_OVERDUE, values).scalars())


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _expire(expiry: Expiry, ids: list[int]) -> int:
    """Record the imports as failed, except those that were changed in the meantime; return how many."""
    overdue = {"status": expiry.status.value, "days": expiry.days}
    failure = {"status": expiry.status.value, "code": expiry.code.value, "message": expiry.message}
    with session() as transaction:
        _lock_before(transaction, ids)
        rows = transaction.execute(_LOCK_OVERDUE, {**overdue, "ids": ids}).all()
        if rows:
            transaction.execute(_EXPIRE, {**failure, "ids": [row.id for row in rows]})
            append_events(transaction, [import_failed(row.id, row.tenant_id, expiry.code.value) for row in rows])
        for row in rows:
            record_own_act(transaction, row.tenant_id, Act(ActKind.IMPORT_EXPIRED, row.id, row.case_id))
        for row in rows if expiry is _HELD else ():
            block_dependents(transaction, row.id)
    return len(rows)


def _lock_before(transaction: Session, ids: list[int]) -> None:
    """Lock the data files of images, before the images, as `shell.imports.state.dependents` does."""
    before = transaction.scalars(_FIND_BEFORE, {"ids": ids}).all()
    if before:
        transaction.execute(_LOCK_BEFORE, {"ids": before})
