"""Begin and resume an undo: keep late workers out, register the parts and queue them.

Guaranteed: repeating any step is harmless. The undo is read under the lock on its import's row, and so waits for the
commit of the request. Before the parts are registered, every chunk that is still pending becomes void, one at a time: a
worker that was paused since before a cancellation would add names after the undo.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.statuses import ImportStatus, UndoStatus
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.deadline import build_deadline_check
from shell.imports.undo.parts import PARTS
from shell.observability import logger
from shell.settings import settings
from shell.tables.imports import Imports
from shell.tables.undos import ImportUndos
from shell.tenants.starts import postpone
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import UndoCompletionMessage, UndoMessage, UndoPartMessage

CHUNKS_PER_PAGE = 1_000
PAUSE_S = 60

_PENDING = text(
    "SELECT chunk_no FROM import_chunks WHERE import_id = :import_id AND chunk_no > :after AND status = 'pending' "
    "ORDER BY chunk_no LIMIT :page"
)
_LOCK_CHUNK = text("SELECT status FROM import_chunks WHERE import_id = :import_id AND chunk_no = :chunk_no FOR UPDATE")
_VOID = text(
    "UPDATE import_chunks SET status = 'void', finished_at = NOW(6) "
    "WHERE import_id = :import_id AND chunk_no = :chunk_no AND status = 'pending'"
)
_IMPORT_STATUS = text("SELECT status FROM imports WHERE id = :import_id FOR UPDATE")
_REGISTER = text(
    "INSERT INTO import_undo_parts (import_id, undo_no, chunk_no, first_line, last_line) "
    "SELECT import_id, :undo_no, chunk_no, first_line, last_line FROM import_chunks "
    "WHERE import_id = :import_id AND status = 'done'"
)
_BEGIN = text(
    "UPDATE import_undos SET status = 'running', parts = (SELECT COUNT(*) FROM import_undo_parts AS part "
    "WHERE part.import_id = :import_id AND part.undo_no = :undo_no), parts_left = parts "
    "WHERE import_id = :import_id AND undo_no = :undo_no"
)


def run_undo(message: UndoMessage) -> None:
    """Begin or resume the undo that the message names; do nothing for one that has ended.

    While nothing starts for the tenant, a new message with a delay requests to begin it.

    Raises an UnavailableError for any failure that a later delivery of the message can overcome.
    """
    import_id, undo_no = message.import_id, message.undo_no
    undo = _load(import_id, undo_no)
    if undo is None or undo.status not in (UndoStatus.REQUESTED, UndoStatus.RUNNING):
        return
    import_record, is_deadline_near = _load_import(import_id), build_deadline_check(PAUSE_S)
    if undo.status == UndoStatus.REQUESTED:
        if postpone(import_record.tenant_id, settings().import_requests_queue_url, message):
            return
        if not undo.dry_run and not _void_pending_chunks(import_id, is_deadline_near):
            _send_request(import_record, undo)
            return
        _register_parts(import_id, undo_no)
    sent = 0
    for page in PARTS.list_pages(import_id, undo_no, after=message.after_part):
        parts = [UndoPartMessage(import_id, undo_no, undo.generation, each) for each in page]
        sent += send_messages(settings().import_chunks_queue_url, parts, tenant_id=import_record.tenant_id)
        if len(page) == PARTS.per_page and is_deadline_near():
            _send_request(import_record, undo, page[-1])
            return
    # Its receiver looks whether a part is left.
    completion = UndoCompletionMessage(import_id, undo_no, undo.generation)
    send_messages(settings().import_completions_queue_url, [completion], tenant_id=import_record.tenant_id)
    logger.info("parts of an undo queued", extra={"import_id": import_id, "undo_no": undo_no, "parts": sent})


def _send_request(import_record: Imports, undo: ImportUndos, after_part: int = 0) -> None:
    request = UndoMessage(undo.import_id, undo.undo_no, undo.generation, after_part)
    send_messages(settings().import_requests_queue_url, [request], tenant_id=import_record.tenant_id)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load(import_id: int, undo_no: int) -> ImportUndos | None:
    with session() as locking:
        locking.execute(_IMPORT_STATUS, {"import_id": import_id})
        return locking.get(ImportUndos, (import_id, undo_no))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load_import(import_id: int) -> Imports:
    with session() as reading:
        return reading.get_one(Imports, import_id)


def _void_pending_chunks(import_id: int, is_deadline_near: Any) -> bool:
    """Set every pending chunk to void, waiting for workers that hold one; return False if the time runs out first."""
    after = 0
    while page := _list_chunks(import_id, after):
        for chunk_no in page:
            _void_chunk(import_id, chunk_no)
            after = chunk_no
            if is_deadline_near():
                return False
    return True


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_chunks(import_id: int, after: int) -> list[int]:
    with session() as reading:
        values = {"import_id": import_id, "after": after, "page": CHUNKS_PER_PAGE}
        return list(reading.execute(_PENDING, values).scalars())


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _void_chunk(import_id: int, chunk_no: int) -> None:
    with session() as transaction:
        place = {"import_id": import_id, "chunk_no": chunk_no}
        transaction.execute(_LOCK_CHUNK, place)
        # The chunk first, as a worker does. The undo may have been cancelled, and the import retried.
        if transaction.execute(_IMPORT_STATUS, {"import_id": import_id}).scalar() == ImportStatus.UNDOING:
            transaction.execute(_VOID, place)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _register_parts(import_id: int, undo_no: int) -> None:
    with session() as transaction:
        undo = lock_undo(transaction, import_id, undo_no)
        if undo is not None and undo.status == UndoStatus.REQUESTED:
            place = {"import_id": import_id, "undo_no": undo_no}
            transaction.execute(_REGISTER, place)
            transaction.execute(_BEGIN, place)


def lock_undo(transaction: Session, import_id: int, undo_no: int) -> ImportUndos | None:
    """Lock the row of the import, then that of the undo, and return the undo as it is now."""
    transaction.execute(_IMPORT_STATUS, {"import_id": import_id})
    return transaction.get(ImportUndos, (import_id, undo_no), with_for_update=True, populate_existing=True)
