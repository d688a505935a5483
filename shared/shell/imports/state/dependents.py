"""Start the import that waits for another one, or block it.

Guaranteed: in the transaction that ends an import, the imports that wait for it go on, or are blocked if it failed or
was cancelled. The message that has one split is sent before the commit, while its row is locked, which the receiver
requests first: it is neither lost nor too early, and if the queue rejects it, the transaction is rolled back and its
message delivered again. An import that was blocked goes on when the other one completes after a retry.

Rows of imports are locked in this order: the import, then those that wait for it. `hold_back` locks them alike.
"""

from __future__ import annotations

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.errors import WrongStateError
from core.statuses import ImportStatus
from shell.aws.sqs import send_messages
from shell.settings import settings
from shell.tables.imports import Imports
from shell.work.messages import ImportMessage

# What is held is released by a run alone.
_IS_RELEASED = (
    "after_import_id = :import_id AND status IN ('waiting', 'blocked') AND (wanted IS NULL OR wanted <> 'hold')"
)
_WAITING = text(
    f"SELECT id, generation, tenant_id FROM imports WHERE {_IS_RELEASED} ORDER BY id FOR UPDATE"  # noqa: S608
)
# The chunks of a check that is run are there already.
_RELEASE = text(
    "UPDATE imports SET status = CASE WHEN layout IS NULL THEN 'splitting' WHEN phase = 'check' THEN 'checking' "  # noqa: S608
    f"ELSE 'running' END, started_at = NOW(6), finished_at = NULL WHERE {_IS_RELEASED}"
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
    "ORDER BY id LIMIT 1"
)
_ENDED_WELL = (ImportStatus.COMPLETED, ImportStatus.COMPLETED_WITH_REJECTIONS, ImportStatus.CHECKED)
_ENDED_BADLY = (ImportStatus.FAILED, ImportStatus.CANCELLED)
_UNDER_WAY = (
    *(ImportStatus.AWAITING_UPLOAD, ImportStatus.UPLOADED),
    *(ImportStatus.SPLITTING, ImportStatus.CHECKING, ImportStatus.RUNNING),
)


def release_dependents(transaction: Session, import_id: int) -> None:
    """Have the imports split that wait for this one, which the transaction completes; it holds the import's lock.

    Raises QueueUnavailableError if the queue does not take a request; the caller must then roll back.
    """
    waiting = transaction.execute(_WAITING, {"import_id": import_id}).all()
    if not waiting:
        return
    transaction.execute(_RELEASE, {"import_id": import_id})
    for row in waiting:
        request = ImportMessage(row.id, row.generation)
        send_messages(settings().import_requests_queue_url, [request], tenant_id=row.tenant_id)


def block_dependents(transaction: Session, import_id: int) -> None:
    """Block the imports that wait for this one or are held, when the transaction records it as failed or cancelled."""
    transaction.execute(_BLOCK, {"import_id": import_id})


def hold_dependents(transaction: Session, import_id: int) -> None:
    """Hold the imports again that were blocked while they were held, because the transaction holds this one again."""
    transaction.execute(_HOLD, {"import_id": import_id})


def refuse_beside_dependents(transaction: Session, import_id: int) -> None:
    """Raise WrongStateError while an import that comes after this one runs; the caller holds this one's lock."""
    running = transaction.execute(_RUNNING, {"import_id": import_id}).scalar()
    if running is not None:
        raise WrongStateError(
            f"Import {running} needs the rows of this one and is running; repeat this when it has ended."
        )


def hold_back(transaction: Session, import_id: int) -> ImportStatus | None:
    """Lock the import that this one comes after; return WAITING if it is under way, None if this one can begin.

    Raises WrongStateError, whose message names the other import, if it failed, was cancelled or is undone.
    """
    after = transaction.scalar(select(Imports.after_import_id).where(Imports.id == import_id))
    if after is None:
        return None
    status = transaction.scalar(select(Imports.status).where(Imports.id == after).with_for_update())
    if status in _ENDED_WELL:
        return None
    if status in _UNDER_WAY:
        return ImportStatus.WAITING
    advice = "retry that one; this one then begins by itself" if status in _ENDED_BADLY else "import its file again"
    raise WrongStateError(f"Import {after}, which this one comes after, has the status {status}; {advice}.")
