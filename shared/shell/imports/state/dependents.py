"""Start the imports that wait for another one, one after the other, or block them.

Guaranteed: in the transaction that ends an import, the first of the imports that wait for it goes on, or all are
blocked if it failed or was cancelled; an import that was blocked goes on when the other one completes after a retry.
The image load files of a volume wait for one data file. One of them is under way at a time, in the order of their ids:
the end of each, however it ends, starts the next. When none is left, all that ended well are completed again, together
(`recompletion`), if what they were compared with is not what there is now: so each is reconciled once with all others,
and again after one of them was retried, was cancelled, failed or was undone.

The message that has an import split is sent before the commit, while its row is locked, which the receiver requests
first: it is neither lost nor too early, and if the queue rejects it, the transaction is rolled back and its message
delivered again.

Rows of imports are locked in this order: the import that others come after (`lock_before`), then these, so that of two
transactions that end, cancel or retry imports which come after one, the second sees what the first has done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.errors import WrongStateError
from core.statuses import ImportKind, ImportStatus
from shell.aws.sqs import send_messages
from shell.imports.state.compared_imports import Source, read_sources
from shell.imports.state.recompletion import is_reopened, reopen
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tables.volumes import PageReconciliations
from shell.work.messages import ImportMessage

_LOCK_BEFORE = text("SELECT status FROM imports WHERE id = :import_id FOR UPDATE")
# What is held is released by a run alone.
_IS_WANTED = "(wanted IS NULL OR wanted <> 'hold')"
_AFTER = text(
    f"SELECT id, status, kind, phase, generation, tenant_id, case_id, {_IS_WANTED} AS is_wanted FROM imports "  # noqa: S608
    "WHERE after_import_id = :import_id ORDER BY id FOR UPDATE"
)
_UNBLOCK = text(
    f"UPDATE imports SET started_at = IF({_IS_WANTED}, started_at, NOW(6)), "  # noqa: S608
    f"status = IF({_IS_WANTED}, 'waiting', 'uploaded') WHERE after_import_id = :import_id AND status = 'blocked'"
)
# The chunks of a check that is run are there already.
_START = text(
    "UPDATE imports SET status = CASE WHEN layout IS NULL THEN 'splitting' WHEN phase = 'check' THEN 'checking' "
    "ELSE 'running' END, started_at = NOW(6), finished_at = NULL WHERE id = :import_id"
)
_BLOCK = text(
    "UPDATE imports SET status = 'blocked' WHERE after_import_id = :import_id AND status IN ('waiting', 'uploaded')"
)
_HOLD = text(
    "UPDATE imports SET status = 'uploaded', started_at = NOW(6) "
    "WHERE after_import_id = :import_id AND status = 'blocked' AND wanted = 'hold'"
)
_RUNNING = text(
    "SELECT id FROM imports WHERE after_import_id = :import_id AND status IN ('splitting', 'checking', 'running') "
    "AND id <> :beside ORDER BY id LIMIT 1"
)
_COUNT = text("SELECT COUNT(*) FROM imports WHERE after_import_id = :import_id")
_ENDED_WELL = (ImportStatus.COMPLETED, ImportStatus.COMPLETED_WITH_REJECTIONS, ImportStatus.CHECKED)
_ENDED_BADLY = (ImportStatus.FAILED, ImportStatus.CANCELLED)
_BEGUN = (ImportStatus.SPLITTING, ImportStatus.CHECKING, ImportStatus.RUNNING)
_UNDER_WAY = (ImportStatus.AWAITING_UPLOAD, ImportStatus.UPLOADED, *_BEGUN)
_HELD_BACK = (ImportStatus.WAITING, ImportStatus.BLOCKED)


def lock_before(transaction: Session, import_id: int) -> ImportStatus | None:
    """Lock the import that this one comes after; return its status, None if it comes after none.

    To be called before this import is locked by a transaction that ends it, cancels it or starts it again.
    """
    after = _find_before(transaction, import_id)
    if after is None:
        return None
    return ImportStatus(transaction.execute(_LOCK_BEFORE, {"import_id": after}).scalar_one())


def _find_before(transaction: Session, import_id: int) -> int | None:
    return transaction.scalar(select(Imports.after_import_id).where(Imports.id == import_id))


def release_dependents(transaction: Session, import_id: int) -> None:
    """Start what comes next after an import that the transaction completes; it holds the locks of both.

    Raises QueueUnavailableError if the queue does not take a request; the caller must then roll back.
    """
    after = _lock_after(transaction, import_id)
    if any(row.status == ImportStatus.BLOCKED for row in after):
        transaction.execute(_UNBLOCK, {"import_id": import_id})
        after = _lock_after(transaction, import_id)
    _go_on(transaction, after)
    go_on_beside(transaction, import_id)


def block_dependents(transaction: Session, import_id: int) -> None:
    """Block the imports that wait for this one or are held, when the transaction records it as failed or cancelled.

    What waits beside it goes on. Raises QueueUnavailableError as `release_dependents` does.
    """
    transaction.execute(_BLOCK, {"import_id": import_id})
    go_on_beside(transaction, import_id)


def go_on_beside(transaction: Session, import_id: int) -> None:
    """Start what comes next after the same import as this one, which the transaction ends; it holds both locks."""
    before = _find_before(transaction, import_id)
    if before is not None and lock_before(transaction, import_id) in _ENDED_WELL:
        _go_on(transaction, _lock_after(transaction, before))


def _lock_after(transaction: Session, import_id: int) -> Sequence[Any]:
    """Lock the imports that come after this one, whose lock the transaction holds; return their rows."""
    return transaction.execute(_AFTER, {"import_id": import_id}).all()


def _go_on(transaction: Session, after: Sequence[Any]) -> None:
    """Start the first of the imports that waits, unless one is under way; complete them again if none is left."""
    if any(row.status in _BEGUN for row in after):
        return
    waiting = next((row for row in after if row.status in _HELD_BACK and row.is_wanted), None)
    if waiting is not None:
        transaction.execute(_START, {"import_id": waiting.id})
        request = ImportMessage(waiting.id, waiting.generation)
        send_messages(settings().import_requests_queue_url, [request], tenant_id=waiting.tenant_id)
        return
    ended = [row for row in after if row.status in _ENDED_WELL and row.kind == ImportKind.IMAGES]
    if len(after) > 1 and _are_stale(transaction, ended):
        reopen(transaction, ended)


def _are_stale(transaction: Session, ended: Sequence[Any]) -> bool:
    """Return whether an import has not been reconciled in its generation, with exactly the others in theirs."""
    for row in ended:
        found = transaction.get(PageReconciliations, row.id, populate_existing=True)
        if found is None or found.finished_at is None or found.generation != row.generation:
            return True
        others = {(each.id, each.generation) for each in ended if each.id != row.id and each.phase == row.phase}
        compared: list[Source] = read_sources(found.compared)
        if {each[:2] for each in compared if each.kind == ImportKind.IMAGES} != others:
            return True
    return False


def is_compared_later(reading: Session, import_record: Imports, generation: int) -> bool:
    """Return whether what needs all image load files of a volume is found later, when all of several have ended."""
    after = import_record.after_import_id
    if after is None or import_record.kind != ImportKind.IMAGES:
        return False
    count = int(reading.execute(_COUNT, {"import_id": after}).scalar_one())
    return count > 1 and not is_reopened(reading, import_record.id, generation)


def hold_dependents(transaction: Session, import_id: int) -> None:
    """Hold the imports again that were blocked while they were held, because the transaction holds this one again."""
    transaction.execute(_HOLD, {"import_id": import_id})


def refuse_beside_dependents(transaction: Session, import_id: int) -> None:
    """Raise WrongStateError while an import that comes after this one runs; the caller holds this one's lock."""
    running = _find_running(transaction, import_id)
    if running is not None:
        raise WrongStateError(
            f"Import {running} needs the rows of this one and is running; repeat this when it has ended."
        )


def _find_running(transaction: Session, import_id: int, beside: int = 0) -> int | None:
    found: int | None = transaction.execute(_RUNNING, {"import_id": import_id, "beside": beside}).scalar()
    return found


def hold_back(transaction: Session, import_id: int) -> ImportStatus | None:
    """Lock the import that this one comes after; return WAITING if it is under way, None if this one can begin.

    WAITING, too, while another one that comes after the same import is under way.
    Raises WrongStateError, whose message names the other import, if it failed, was cancelled or is undone.
    """
    after, status = _find_before(transaction, import_id), lock_before(transaction, import_id)
    if after is None or status is None:
        return None
    if status in _UNDER_WAY:
        return ImportStatus.WAITING
    if status in _ENDED_WELL:
        beside = _find_running(transaction, after, beside=import_id)
        return None if beside is None else ImportStatus.WAITING
    advice = "retry that one; this one then begins by itself" if status in _ENDED_BADLY else "import its file again"
    raise WrongStateError(f"Import {after}, which this one comes after, has the status {status}; {advice}.")
