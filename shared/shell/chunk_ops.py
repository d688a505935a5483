"""One chunk of a load file to MySQL: all of its rows, exactly once, or none.

Guaranteed: whoever imports a chunk holds its row; a chunk that is done stays done however often its message comes; a
COMMIT of unknown outcome is settled by that row; the last chunk completes the import.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.errors import ChunkBusyError, ImportNotRunningError, StorageUnavailableError
from core.load_file.chunk import SourceRecord, read_chunk
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.layout import Layout
from core.reasons import Rejection
from core.rows import Problem, Row, parse_row
from core.statuses import ChunkStatus, ImportStatus
from shell.chunk_writing_ops import ChunkWriter
from shell.completion_ops import Counts, drop_unused_names, settle_chunk
from shell.exhibit_ops import FittedRow, Fitter, StoredExhibit, stored_exhibits
from shell.observability import count_now, logger
from shell.outbox_ops import nudge_publisher
from shell.tables.chunks import ImportChunks, ImportDuplicates
from shell.tables.imports import Imports
from shell.utils.column_limits import column_limits
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.keys import unstorable
from shell.utils.object_store import ObjectVersion

_LOCK_CHUNK = text(
    "SELECT status FROM import_chunks WHERE import_id = :import_id AND chunk_no = :chunk_no FOR UPDATE SKIP LOCKED"
)
_WAIT_FOR_CHUNK = text(
    "SELECT status FROM import_chunks WHERE import_id = :import_id AND chunk_no = :chunk_no FOR UPDATE"
)


@dataclass(frozen=True)
class ChunkInput:
    """What is known of a chunk before its transaction: plain values, for every attempt the same."""

    the_import: Imports
    chunk: ImportChunks
    layout: Layout
    rows: Sequence[FittedRow]
    held: dict[str, StoredExhibit]


def import_chunk(import_id: int, chunk_no: int) -> str:
    """Import the chunk; returns its status: done, or that of an import that is not running any more.

    Raises ChunkBusyError while another worker holds it, and UnavailableError for anything that another delivery of
    the message can mend.
    """
    found = _load(import_id, chunk_no)
    if found is None:
        logger.warning("no such chunk", extra={"import_id": import_id, "chunk_no": chunk_no})
        return "unknown"
    the_import, chunk = found
    if the_import.status != ImportStatus.RUNNING:
        return the_import.status
    if chunk.status != ChunkStatus.PENDING:
        return chunk.status
    status = _write(import_id, chunk_no, _prepare(the_import, chunk))
    nudge_publisher()
    return status


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _load(import_id: int, chunk_no: int) -> tuple[Imports, ImportChunks] | None:
    with session() as reading:
        row = reading.execute(
            select(Imports, ImportChunks)
            .join(ImportChunks, ImportChunks.import_id == Imports.id)
            .where(Imports.id == import_id, ImportChunks.chunk_no == chunk_no)
        ).one_or_none()
    return None if row is None else (row[0], row[1])


def _status(import_id: int, chunk_no: int, *_: object) -> str | None:
    """The chunk's status if it is settled; waits for a transaction that is about to settle it.

    A plain read would say `pending` while that COMMIT is under way.
    """
    with session() as locking:
        status = locking.execute(_WAIT_FOR_CHUNK, {"import_id": import_id, "chunk_no": chunk_no}).scalar()
    return None if status == ChunkStatus.PENDING else status


def _prepare(the_import: Imports, chunk: ImportChunks) -> ChunkInput:
    """Read, parse and fit, all of it before the transaction."""
    layout = Layout.from_json(the_import.layout or "{}")
    rows = _rows(the_import, chunk, layout)
    if len(rows) != chunk.row_count:
        raise StorageUnavailableError(f"the chunk has {len(rows)} records, the splitter saw {chunk.row_count}")
    limit = column_limits("exhibits")["control_number"]
    # The server refuses even to look for an id that its column cannot hold.
    named = [row.control_number for row in rows if row.control_number and not row.problems]
    ids = [control_number for control_number in named if not unstorable(control_number, limit)]
    duplicates, held = _look_up(the_import, chunk, ids)
    fitter = Fitter(layout, the_import.case_id, the_import.id)
    for row in rows:
        if row.source.line_no in duplicates:
            row.problems.append(_duplicate(duplicates[row.source.line_no]))
    return ChunkInput(the_import, chunk, layout, [fitter.fit(row) for row in rows], held)


def _rows(the_import: Imports, chunk: ImportChunks, layout: Layout) -> list[Row]:
    """The chunk's rows; a record that is too large to be read is a chunk of its own."""
    if chunk.byte_end - chunk.byte_start > MAX_RECORD_BYTES:
        return [_too_large(chunk)]
    source = ObjectVersion(the_import.bucket, the_import.object_key, the_import.version_id, the_import.etag)
    raw = source.read(chunk.byte_start, chunk.byte_end)
    if hashlib.sha256(raw).digest() != chunk.sha256:
        raise StorageUnavailableError("the chunk's bytes are not those that the splitter read")
    return [parse_row(record, layout) for record in read_chunk(raw, layout, chunk.first_line, chunk.byte_start)]


def _too_large(chunk: ImportChunks) -> Row:
    size = chunk.byte_end - chunk.byte_start
    source = SourceRecord(chunk.first_line, chunk.last_line - chunk.first_line + 1, chunk.byte_start, size, None)
    message = f"the record has {size} bytes; the most that is read is {MAX_RECORD_BYTES}"
    return Row(source, problems=[Problem(Rejection.RECORD_TOO_LARGE, None, message)])


def _duplicate(first_line: int) -> Problem:
    return Problem(Rejection.DUPLICATE_ID, None, f"line {first_line} of this file has the same id")


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _look_up(
    the_import: Imports, chunk: ImportChunks, control_numbers: Sequence[str]
) -> tuple[dict[int, int], dict[str, StoredExhibit]]:
    with session() as reading:
        lines = ImportDuplicates.line_no.between(chunk.first_line, chunk.last_line)
        duplicates = reading.execute(
            select(ImportDuplicates.line_no, ImportDuplicates.first_line).where(
                ImportDuplicates.import_id == the_import.id, lines
            )
        ).all()
        held = stored_exhibits(reading, the_import.case_id, control_numbers)
    return {row.line_no: row.first_line for row in duplicates}, held


@retry_on_db_conflict(resolve=_status)
def _write(import_id: int, chunk_no: int, prepared: ChunkInput) -> str:
    """The unit that is replayed: names in a short transaction of their own, then everything else in one."""
    writer = ChunkWriter(prepared.the_import, prepared.chunk, prepared.layout, prepared.rows, prepared.held)
    with session() as naming:
        # Only a chunk that is still to be written may name anything: behind its back the import may be complete.
        status = _lock(naming, import_id, chunk_no)
        if status != ChunkStatus.PENDING:
            return status
        writer.add_names(naming)
    try:
        with session() as transaction:
            status = _lock(transaction, import_id, chunk_no)
            if status != ChunkStatus.PENDING:
                return status
            counts = writer.write(transaction)
            settle_chunk(transaction, prepared.the_import, chunk_no, ChunkStatus.DONE, counts)
        _show(counts)
    except ImportNotRunningError as stopped:
        with session() as forgetting:
            # What was named for rows that do not come: the import is at its end, and nobody else looks after it.
            drop_unused_names(forgetting, prepared.the_import)
        return stopped.status
    return ChunkStatus.DONE


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
