"""Chunks that could not be imported: one more try, then their rows count as rejected, so that the import finishes.

Guaranteed: a chunk is given up only after it was sent back once, and never while a worker holds it; its bytes go into
the rejected-rows file. Messages that come twice change nothing.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, select, text
from sqlalchemy.orm import Session

from core.errors import ChunkBusyError, ImportNotRunningError
from core.reasons import Rejection
from core.statuses import ChunkStatus
from shell.completion_ops import REJECTION_COLUMNS, Counts, settle_chunk
from shell.observability import count_now, logger
from shell.outbox_ops import nudge_publisher
from shell.settings import settings
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.utils.bulk_insert import insert_new
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.queues import send_all

_NOTE_REDRIVE = text(
    "UPDATE import_chunks SET redrives = redrives + 1 "
    "WHERE import_id = :import_id AND chunk_no = :chunk_no AND redrives = 0"
)


def settle_failed_chunk(message: dict[str, Any]) -> None:
    """Send the chunk back if this is its first visit (it may have been an outage), else give it up."""
    import_id, chunk_no = int(message["import_id"]), int(message["chunk_no"])
    # The visit is known by the message, not by the row: a message that comes twice is still a first visit.
    if int(message.get("redrive", 0)) == 0:
        again = {**message, "redrive": 1}
        # First in the database: while that is down nothing is sent, and the message stays where it is.
        _note_redrive(import_id, chunk_no)
        send_all(settings().import_chunks_queue_url, [again], delay_s=settings().redrive_delay_seconds)
        return
    if _give_up(import_id, chunk_no, message.get("generation")):
        logger.error("chunk given up", extra={"import_id": import_id, "chunk_no": chunk_no})
        count_now(ChunksGivenUp=1)
        nudge_publisher()


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _note_redrive(import_id: int, chunk_no: int) -> None:
    with session() as transaction:
        transaction.execute(_NOTE_REDRIVE, {"import_id": import_id, "chunk_no": chunk_no})


def _given_up(import_id: int, chunk_no: int, _generation: int | None) -> bool | None:
    """After an unknown COMMIT: whether it took effect, by the chunk's row; waits for a COMMIT that is under way."""
    with session() as locking:
        status = locking.scalar(select(ImportChunks.status).where(*_named(import_id, chunk_no)).with_for_update())
    return True if status == ChunkStatus.FAILED else None


@retry_on_db_conflict(resolve=_given_up)
def _give_up(import_id: int, chunk_no: int, generation: int | None) -> bool:
    """Mark the chunk failed; False if it is settled already, the import is not running, or it was retried since."""
    try:
        with session() as transaction:
            chunk = _locked(transaction, import_id, chunk_no)
            if chunk is None or chunk.status != ChunkStatus.PENDING:
                return False
            the_import = transaction.get_one(Imports, import_id)
            insert_new(transaction, "import_rejections", (*REJECTION_COLUMNS, "row_count"), [_rejection(chunk)])
            counts = Counts(0, 0, 0, rejected=chunk.row_count, warnings=0)
            settle_chunk(transaction, the_import, chunk_no, ChunkStatus.FAILED, counts, generation)
    except ImportNotRunningError:
        return False
    return True


def _locked(transaction: Session, import_id: int, chunk_no: int) -> ImportChunks | None:
    wanted = select(ImportChunks).where(*_named(import_id, chunk_no))
    chunk = transaction.scalars(wanted.with_for_update(skip_locked=True)).one_or_none()
    if chunk is None and transaction.scalars(wanted).one_or_none() is not None:
        raise ChunkBusyError()
    return chunk


def _named(import_id: int, chunk_no: int) -> tuple[ColumnElement[bool], ...]:
    return ImportChunks.import_id == import_id, ImportChunks.chunk_no == chunk_no


def _rejection(chunk: ImportChunks) -> tuple[Any, ...]:
    message = (
        f"lines {chunk.first_line} to {chunk.last_line} could not be imported in any attempt; "
        "they are in the rejected-rows file: load that again, and if it fails again ask the operator for the log"
    )
    place = (chunk.import_id, chunk.first_line, 0, chunk.chunk_no, None, Rejection.CHUNK_FAILED.value, message, None)
    return (*place, chunk.byte_start, chunk.byte_end - chunk.byte_start, chunk.row_count)
