"""One chunk of a load file to MySQL: all of its rows, exactly once, or none.

Guaranteed: whoever imports a chunk holds its row; a chunk that is done stays done however often its message comes; a
COMMIT of unknown outcome is settled by that row; the last chunk completes the import.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, select, text
from sqlalchemy.orm import Session, load_only

from core.errors import ChunkBusyError, ImportNotRunningError
from core.statuses import ChunkStatus, ImportStatus
from shell.chunk_reading_ops import ChunkInput, duplicates, read
from shell.chunk_writing_ops import ChunkWriter
from shell.completion_ops import Counts, drop_unused_names, settle_chunk
from shell.observability import count_now, logger
from shell.outbox_ops import nudge_publisher
from shell.tables.chunks import ImportChunks
from shell.tables.imports import Imports
from shell.utils.collecting import collection_paused
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

# The driver takes as long for a column that nobody asks for as for one that somebody does.
_NEEDED = (
    *(Imports.status, Imports.tenant_id, Imports.case_id, Imports.user_id, Imports.layout),
    *(Imports.bucket, Imports.object_key, Imports.version_id, Imports.etag),
)
_LOAD = (
    select(Imports, ImportChunks)
    .join(ImportChunks, ImportChunks.import_id == Imports.id)
    .where(Imports.id == bindparam("import_id"), ImportChunks.chunk_no == bindparam("chunk_no"))
    .options(load_only(*_NEEDED, raiseload=True))
)
_LOCK_CHUNK = text(
    "SELECT status FROM import_chunks WHERE import_id = :import_id AND chunk_no = :chunk_no FOR UPDATE SKIP LOCKED"
)
_WAIT_FOR_CHUNK = text(
    "SELECT status FROM import_chunks WHERE import_id = :import_id AND chunk_no = :chunk_no FOR UPDATE"
)


class Written(NamedTuple):
    """A chunk's status, and whether it may have events that nobody has been told of.

    Whoever finds a chunk settled does not know whether the one who did it lived to tell.
    """

    status: str
    has_events: bool = True


def import_chunk(import_id: int, chunk_no: int) -> str:
    """Import the chunk; returns its status: done, or that of an import that is not running any more.

    Raises ChunkBusyError while another worker holds it, and UnavailableError for anything that another delivery of
    the message can mend.
    """
    found = _load(import_id, chunk_no)
    if found is None:
        logger.warning("no such chunk", extra={"import_id": import_id, "chunk_no": chunk_no})
        return "unknown"
    the_import, chunk, _ = found
    if the_import.status != ImportStatus.RUNNING:
        return the_import.status
    if chunk.status != ChunkStatus.PENDING:
        return chunk.status
    with collection_paused():
        written = _write(import_id, chunk_no, read(*found))
    if written.has_events:
        nudge_publisher()
    return written.status


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _load(import_id: int, chunk_no: int) -> tuple[Imports, ImportChunks, dict[int, int]] | None:
    """The import, the chunk, and the chunk's lines whose id an earlier line of the file has, each with that line."""
    with session() as reading:
        row = reading.execute(_LOAD, {"import_id": import_id, "chunk_no": chunk_no}).one_or_none()
        return None if row is None else (row[0], row[1], duplicates(reading, row[1]))


def _status(import_id: int, chunk_no: int, *_: object) -> Written | None:
    """The chunk's status if it is settled; waits for a transaction that is about to settle it.

    A plain read would say `pending` while that COMMIT is under way.
    """
    with session() as locking:
        status = locking.execute(_WAIT_FOR_CHUNK, {"import_id": import_id, "chunk_no": chunk_no}).scalar()
    return None if status == ChunkStatus.PENDING else Written(str(status))


@retry_on_db_conflict(resolve=_status)
def _write(import_id: int, chunk_no: int, prepared: ChunkInput) -> Written:
    """The unit that is replayed: names in a short transaction of their own, then everything else in one."""
    writer = ChunkWriter(prepared)
    with session() as naming:
        if writer.lacks_names(naming):
            # Only a chunk that is still to be written may name anything: behind its back the import may be complete.
            status = _lock(naming, import_id, chunk_no)
            if status != ChunkStatus.PENDING:
                return Written(status)
            writer.add_names(naming)
    try:
        with session() as transaction:
            status = _lock(transaction, import_id, chunk_no)
            if status != ChunkStatus.PENDING:
                return Written(status)
            counts = writer.write(transaction)
            completed = settle_chunk(transaction, prepared.the_import, chunk_no, ChunkStatus.DONE, counts)
    except ImportNotRunningError as stopped:
        with session() as forgetting:
            # What was named for rows that do not come: the import is at its end, and nobody else looks after it.
            drop_unused_names(forgetting, prepared.the_import)
        return Written(stopped.status)
    _show(counts)
    # Chunks tell of warnings, and the last one of the import's completion.
    return Written(ChunkStatus.DONE, has_events=completed or counts.warnings > 0)


def _show(counts: Counts) -> None:
    count_now(
        RowsImported=counts.imported,
        RowsUnchanged=counts.unchanged,
        RowsRejected=counts.rejected,
        RowWarnings=counts.warnings,
    )


def _lock(transaction: Session, import_id: int, chunk_no: int) -> str:
    status = transaction.execute(_LOCK_CHUNK, {"import_id": import_id, "chunk_no": chunk_no}).scalar()
    if status is None:
        raise ChunkBusyError()
    return str(status)
