"""Handle chunks from the dead-letter queue: retry once, then count their rows as rejected, so that the import ends.

Guaranteed: a chunk is marked failed only after it was sent back once, and never while a worker holds it; its bytes go
into the rejected-rows file. A message that is delivered twice has no further effect.
"""

from __future__ import annotations

from functools import partial

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.codes import Rejection
from core.statuses import ChunkStatus, CodeKind, ImportPhase
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.imports.state.codes import count_chunk
from shell.imports.state.findings import build_finding, write_findings
from shell.imports.state.progress import CHUNKS, ChunkOutcome, Counts, RejectionRow, complete_chunk
from shell.observability import emit_counts, logger
from shell.outbox.writer import wake_relay
from shell.settings import settings
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import ChunkMessage
from shell.work.redrive import send_back
from shell.work.units import STOPPED

_NOTE_REDRIVE = text(
    "UPDATE import_chunks SET redrives = redrives + 1 "
    "WHERE import_id = :import_id AND chunk_no = :chunk_no AND redrives = 0"
)
# The count-down has locked the row.
_COUNT = text("UPDATE imports SET chunks_failed = chunks_failed + 1 WHERE id = :import_id")


def handle_failed_chunk(message: ChunkMessage) -> None:
    """Send the chunk back the first time, in case of an outage, and mark it failed the second time.

    Raises ChunkBusyError while a worker holds the chunk.
    """
    import_id, chunk_no = message.import_id, message.chunk_no
    if send_back(message, settings().import_chunks_queue_url, partial(_note_redrive, import_id, chunk_no)):
        return
    if _fail_chunk(import_id, chunk_no, message.generation):
        logger.error("chunk failed in every attempt", extra={"import_id": import_id, "chunk_no": chunk_no})
        emit_counts(ChunksFailed=1)
        wake_relay()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _note_redrive(import_id: int, chunk_no: int) -> str | None:
    """Count the redrive and return the import's tenant."""
    with session() as transaction:
        transaction.execute(_NOTE_REDRIVE, {"import_id": import_id, "chunk_no": chunk_no})
        return transaction.scalar(select(Imports.tenant_id).where(Imports.id == import_id))


def _is_failed(import_id: int, chunk_no: int, _generation: int | None) -> bool | None:
    return True if CHUNKS.find_end(import_id, chunk_no) == ChunkStatus.FAILED else None


@retry_on_db_conflict(resolve=_is_failed)
def _fail_chunk(import_id: int, chunk_no: int, generation: int | None) -> bool:
    """Mark the chunk failed; return False if it is not pending, or its import is not running or was retried."""
    try:
        with session() as transaction:
            chunk = CHUNKS.lock(transaction, import_id, chunk_no)
            import_record = transaction.get_one(Imports, import_id)
            if generation not in (None, import_record.generation):
                return False
            _record_failure(transaction, import_record, chunk)
            counts = Counts(0, 0, 0, rejected=chunk.row_count, warnings=0)
            complete_chunk(transaction, import_record, chunk_no, ChunkOutcome(ChunkStatus.FAILED, counts))
            transaction.execute(_COUNT, {"import_id": import_id})
    except STOPPED:
        return False
    return True


def _record_failure(transaction: Session, import_record: Imports, chunk: ImportChunks) -> None:
    """Record that the chunk's rows were not imported or, if the file is only checked, not checked."""
    if import_record.phase == ImportPhase.CHECK:
        advice = "retry the check, and if it fails again ask the operator for the log"
        message = f"{_describe_failure(chunk, 'checked')}; {advice}"
        code = Rejection.CHUNK_FAILED.value
        finding = build_finding(chunk.import_id, code, chunk.first_line, 0, message, rows=chunk.row_count)
        write_findings(transaction, [finding])
        return
    insert_new(transaction, "import_rejections", RejectionRow._fields, [_build_rejection(chunk)])
    count_chunk(transaction, chunk, [CodeKind.REJECTION])


def _describe_failure(chunk: ImportChunks, done: str) -> str:
    return f"lines {chunk.first_line} to {chunk.last_line} could not be {done} in any attempt"


def _build_rejection(chunk: ImportChunks) -> RejectionRow:
    advice = "import the rejected-rows file, which has them, and if it fails again ask the operator for the log"
    message = f"{_describe_failure(chunk, 'imported')}; {advice}"
    return RejectionRow(
        *(chunk.import_id, chunk.first_line, 0, chunk.chunk_no, None, Rejection.CHUNK_FAILED.value, message, None),
        *(chunk.byte_start, chunk.byte_end - chunk.byte_start, chunk.row_count),
    )
