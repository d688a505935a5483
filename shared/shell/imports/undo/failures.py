"""Handle messages of undos from the dead-letter queues: retry once, then record that the undo failed.

Guaranteed: an undo or a part of one is marked failed only after it was sent back once, not if the undo has been retried
since, and a part never while a worker holds it. A request of an undo whose parts are registered is sent back again and
again: parts may be under way, and those that were not queued yet are queued then.
"""

from __future__ import annotations

from functools import partial

from sqlalchemy.orm import Session

from core.statuses import ChunkStatus, UndoStatus
from shell.db.session import session
from shell.imports.state.records import find_tenant
from shell.imports.undo.ending import fail_undo
from shell.imports.undo.parts import PARTS, PartKey, build_part_key, complete_part, find_status
from shell.observability import emit_counts, logger
from shell.outbox.writer import wake_relay
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tables.undos import ImportUndos
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import UndoCompletionMessage, UndoMessage, UndoPartMessage
from shell.work.redrive import send_back
from shell.work.units import STOPPED


def handle_failed_part(message: UndoPartMessage) -> None:
    """Send the part back the first time, and mark it failed the second time. Raises ChunkBusyError."""
    if send_back(message, settings().import_chunks_queue_url, partial(find_tenant, message.import_id)):
        return
    if _fail_part(build_part_key(message), message.generation):
        logger.error("part of an undo failed in every attempt", extra=build_part_key(message)._asdict())
        emit_counts(ChunksFailed=1)
        wake_relay()


def handle_failed_undo(message: UndoMessage | UndoCompletionMessage) -> None:
    """Send the request, or the completion, of an undo back the first time; record the undo as failed the second time.

    A request is sent back each time while the undo runs.
    """
    import_id, undo_no = message.import_id, message.undo_no
    is_request = isinstance(message, UndoMessage)
    queue_url = settings().import_requests_queue_url if is_request else settings().import_completions_queue_url
    is_running = is_request and bool(message.redrive) and _is_running(import_id, undo_no)
    if send_back(message, queue_url, partial(find_tenant, import_id), again=is_running):
        return
    if fail_undo(import_id, undo_no, message.generation):
        logger.error("undo failed in every attempt", extra={"import_id": import_id, "undo_no": undo_no})
        emit_counts(CompletionsFailed=1)
        wake_relay()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _is_running(import_id: int, undo_no: int) -> bool:
    with session() as reading:
        undo = reading.get(ImportUndos, (import_id, undo_no))
        return undo is not None and undo.status == UndoStatus.RUNNING


def _is_failed(part: PartKey, _generation: int) -> bool | None:
    return True if find_status(part) == ChunkStatus.FAILED else None


@retry_on_db_conflict(resolve=_is_failed)
def _fail_part(part: PartKey, generation: int) -> bool:
    """Mark the part failed; return False if it is not pending, or if its undo does not run or was retried."""
    try:
        with session() as transaction:
            PARTS.lock(transaction, *part)
            tenant_id = _read_tenant(transaction, part.import_id)
            complete_part(transaction, part, ChunkStatus.FAILED, tenant_id, generation=generation)
    except STOPPED:
        return False
    return True


def _read_tenant(transaction: Session, import_id: int) -> str:
    return transaction.get_one(Imports, import_id).tenant_id
