"""Request the undo of an import, or a dry run of one.

Guaranteed: two requests have one effect; an undo begins only if the import has ended and no other import of the case
runs or is being undone (`shell.exhibits.case_locks`). The message that has it run is sent before the commit, as for a
retry (`shell.imports.commands`).
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.imports.undos import Undo, UndoRequest
from core.errors import WrongStateError
from core.statuses import OPEN_UNDOS, ImportPhase, ImportStatus, UndoStatus
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.aws.sqs import send_messages
from shell.case_state.fence import Entry
from shell.exhibits.case_locks import find_running_import
from shell.imports.state.access import build_not_found, enter_import
from shell.imports.undo.pages import find_live_images
from shell.imports.undo.queries import describe_undo, find_last_undo
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tables.undos import ImportUndos
from shell.work.messages import UndoMessage

ENDED = frozenset(
    {
        *(ImportStatus.COMPLETED, ImportStatus.COMPLETED_WITH_REJECTIONS, ImportStatus.FAILED, ImportStatus.CANCELLED),
        *(ImportStatus.CHECKED, ImportStatus.UNDONE_WITH_CONFLICTS, ImportStatus.UNDO_FAILED),
    }
)
_HAS_DONE_CHUNK = text("SELECT 1 FROM import_chunks WHERE import_id = :import_id AND status = 'done' LIMIT 1")
_LAST_NUMBER = text("SELECT COALESCE(MAX(undo_no), 0) FROM import_undos WHERE import_id = :import_id")
_NOW = text("SELECT NOW(6)")
_RETRY_PARTS = text(
    "UPDATE import_undo_parts SET status = 'pending', finished_at = NULL "
    "WHERE import_id = :import_id AND undo_no = :undo_no AND status = 'failed'"
)
_COUNT_PENDING = text(
    "SELECT COUNT(*) FROM import_undo_parts WHERE import_id = :import_id AND undo_no = :undo_no AND status = 'pending'"
)


def undo_import(transaction: Session, caller: Caller, import_id: int, body: UndoRequest) -> Undo:
    """Request the undo of an import that has ended, or a dry run; return its state.

    An import that is undone, or is being undone, gets the state of that undo, which is resumed if it is open. After an
    undo that failed, only the parts that failed are done again. Raises NotFoundError if the tenant has no such import,
    WrongStateError if it has not ended or another import of the case runs (its message says what to do), and
    QueueUnavailableError.
    """
    entry = Entry.CHANGE if body.dry_run else Entry.REMOVE
    enter_import(transaction, caller, import_id, entry, alone=True)
    case_id = transaction.scalars(select(Imports.case_id).where(Imports.id == import_id)).one()
    other = find_running_import(transaction, case_id, import_id)
    import_record = transaction.get(Imports, import_id, with_for_update=True, populate_existing=True)
    if import_record is None or import_record.tenant_id != caller.tenant_id:
        raise build_not_found()
    is_undone = import_record.status in (ImportStatus.UNDOING, ImportStatus.UNDONE)
    last = find_last_undo(transaction, import_id, dry_run=None if body.dry_run and not is_undone else False)
    if last is not None and _is_answer(import_record, last, dry_run=body.dry_run):
        if last.status in OPEN_UNDOS:
            # Its messages may be lost; a second one is harmless.
            _send_request(last, caller)
        record_no_act(transaction)
        return describe_undo(transaction, import_record, last)
    if import_record.status not in ENDED:
        raise WrongStateError(
            f"The import has the status {import_record.status}; wait until it has ended, or cancel it; then undo it."
        )
    if import_record.phase == ImportPhase.CHECK or not _has_done_chunk(transaction, import_id):
        record_no_act(transaction)
        return describe_undo(transaction, import_record, None)
    if other is not None:
        raise WrongStateError(
            f"Import {other} of the same case is running or being undone; undo this one when it has ended."
        )
    images = find_live_images(transaction, import_id)
    if images is not None:
        raise WrongStateError(f"Import {images} added the images of these documents; undo it first.")
    undo = _begin(transaction, caller, import_record, last, dry_run=body.dry_run)
    summary = {"undoNo": undo.undo_no, "dryRun": body.dry_run}
    record_act(transaction, caller, Act(ActKind.UNDO_REQUESTED, import_id, case_id, summary))
    _send_request(undo, caller)
    return describe_undo(transaction, import_record, undo)


def _send_request(undo: ImportUndos, caller: Caller) -> None:
    request = UndoMessage(undo.import_id, undo.undo_no, undo.generation)
    send_messages(settings().import_requests_queue_url, [request], tenant_id=caller.tenant_id)


def _is_answer(import_record: Imports, last: ImportUndos, *, dry_run: bool) -> bool:
    """Return whether the last undo is what the request asks for."""
    if import_record.status in (ImportStatus.UNDOING, ImportStatus.UNDONE):
        return not last.dry_run
    return dry_run and bool(last.dry_run) and last.status in OPEN_UNDOS


def _has_done_chunk(transaction: Session, import_id: int) -> bool:
    return transaction.execute(_HAS_DONE_CHUNK, {"import_id": import_id}).first() is not None


def _begin(
    transaction: Session, caller: Caller, import_record: Imports, last: ImportUndos | None, *, dry_run: bool
) -> ImportUndos:
    """Record the undo and the status of the import; the caller holds the locks on the case and the import."""
    if not dry_run:
        _supersede_dry_run(transaction, import_record.id)
    if import_record.status == ImportStatus.UNDO_FAILED and not dry_run and last is not None:
        undo = _retry(transaction, last)
    else:
        undo = _create(transaction, caller, import_record, dry_run=dry_run)
    if not dry_run:
        import_record.status = ImportStatus.UNDOING.value
    transaction.flush()
    return undo


def _supersede_dry_run(transaction: Session, import_id: int) -> None:
    last: Any = find_last_undo(transaction, import_id, dry_run=True)
    if last is not None and last.status in OPEN_UNDOS:
        transaction.refresh(last, with_for_update=True)
        if last.status in OPEN_UNDOS:
            last.status, last.finished_at = UndoStatus.SUPERSEDED.value, func.now(6)


def _retry(transaction: Session, undo: ImportUndos) -> ImportUndos:
    transaction.refresh(undo, with_for_update=True)
    place = {"import_id": undo.import_id, "undo_no": undo.undo_no}
    transaction.execute(_RETRY_PARTS, place)
    undo.parts_left = int(transaction.execute(_COUNT_PENDING, place).scalar_one())
    undo.status = (UndoStatus.RUNNING if undo.parts else UndoStatus.REQUESTED).value
    undo.generation, undo.finished_at, undo.report_written = undo.generation + 1, None, 0
    undo.created_at = transaction.execute(_NOW).scalar_one()
    return undo


def _create(transaction: Session, caller: Caller, import_record: Imports, *, dry_run: bool) -> ImportUndos:
    last = transaction.execute(_LAST_NUMBER, {"import_id": import_record.id}).scalar_one()
    undo = ImportUndos(
        import_id=import_record.id,
        undo_no=last + 1,
        status=UndoStatus.REQUESTED.value,
        dry_run=int(dry_run),
        user_id=caller.user_id,
        status_before=import_record.status,
    )
    transaction.add(undo)
    return undo
