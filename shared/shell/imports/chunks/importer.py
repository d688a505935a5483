"""Import one chunk of a load file, or check it: all of its rows exactly once, or none.

Guaranteed: a chunk that is done stays done, however often its message is delivered; the imported bytes are those that
the splitting pass read, otherwise the chunk is retried. Everything before `write_chunk` only reads. The import's row is
read first: if the import was retried since, the chunk is read again, because what it found in the case may be gone.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session, load_only

from core.codes import Rejection
from core.errors import StorageRefusedError
from core.load_file.chunk_reader import read_chunk
from core.load_file.encoding import decode
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.layout import Layout
from core.load_file.original_lines import find_line_in_text, has_line_column
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import Row, RowError, parse_row
from core.load_mode import Blanks, LoadMode
from core.statuses import ACTIVE_STATUSES, ChunkStatus, ImportKind, ImportStatus
from shell.aws.s3 import ObjectVersion
from shell.db.session import session
from shell.exhibits.updates import find_by_key
from shell.imports.chunks.checker import check_chunk
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.coercion import RowCoercer, StorableRow
from shell.imports.chunks.columnar_rows import ColumnarRows, columnar_rows
from shell.imports.chunks.exhibit_store import StoredExhibit, find_exhibits, may_hold
from shell.imports.chunks.file_links import link_rows
from shell.imports.chunks.writer import write_chunk
from shell.observability import logger
from shell.outbox.writer import wake_relay
from shell.tables.chunks import ImportChunks, ImportDuplicates
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# Enough for a number with its delimiters and qualifiers, and blank lines.
TAIL_BYTES = 1_000
# The driver converts every selected column, used or not.
_COLUMNS = (
    *(Imports.status, Imports.phase, Imports.generation, Imports.kind, Imports.after_import_id, Imports.tenant_id),
    *(Imports.case_id, Imports.user_id, Imports.layout),
    *(Imports.bucket, Imports.object_key, Imports.version_id, Imports.etag, Imports.volume_id),
)
_LOAD = (
    select(Imports, ImportChunks)
    .join(ImportChunks, ImportChunks.import_id == Imports.id)
    .where(Imports.id == bindparam("import_id"), ImportChunks.chunk_no == bindparam("chunk_no"))
    .options(load_only(*_COLUMNS, raiseload=True))
)
_DUPLICATES = select(ImportDuplicates.line_no, ImportDuplicates.first_line).where(
    ImportDuplicates.import_id == bindparam("import_id"),
    ImportDuplicates.line_no.between(bindparam("first"), bindparam("last")),
)


class LoadedChunk(NamedTuple):
    """A chunk with its import; `first_lines` maps each line with a duplicate id to the first line with that id."""

    import_record: Imports
    chunk: ImportChunks
    first_lines: Mapping[int, int]

    @property
    def has_images(self) -> bool:
        """Whether it is one of an image load file."""
        return self.import_record.kind == ImportKind.IMAGES


def import_chunk(import_id: int, chunk_no: int) -> str:
    """Import the chunk; return its status, or the status of an import that is not running any more.

    Raises ChunkBusyError while another worker holds the chunk, ImportRetriedError if the import was retried while this
    one did, and another UnavailableError for any failure that a later delivery of the message can overcome.
    """
    return finish_chunk(prepare_chunk(import_id, chunk_no))


def prepare_chunk(import_id: int, chunk_no: int) -> ChunkInput | str:
    """Read the chunk's rows; return the status instead if there is nothing to import.

    It only reads, and may run while another thread finishes another chunk.
    """
    loaded = load_chunk(import_id, chunk_no)
    return loaded if isinstance(loaded, str) else read_rows(loaded)


def load_chunk(import_id: int, chunk_no: int) -> LoadedChunk | str:
    """Return the chunk as it is registered; the status instead if there is nothing to import."""
    loaded = _load(import_id, chunk_no)
    if loaded is None:
        logger.warning("chunk not found", extra={"import_id": import_id, "chunk_no": chunk_no})
        return "unknown"
    if loaded.import_record.status not in ACTIVE_STATUSES:
        return loaded.import_record.status
    if loaded.chunk.status != ChunkStatus.PENDING:
        return loaded.chunk.status
    return loaded


def finish_chunk(prepared: ChunkInput | str) -> str:
    """Write or check a prepared chunk, and return the status as `import_chunk` does."""
    if isinstance(prepared, str):
        return prepared
    result = check_chunk(prepared) if prepared.is_check else write_chunk(prepared)
    if result.has_events:
        wake_relay()
    return result.status


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load(import_id: int, chunk_no: int) -> LoadedChunk | None:
    with session() as reading:
        row = reading.execute(_LOAD, {"import_id": import_id, "chunk_no": chunk_no}).one_or_none()
        return None if row is None else LoadedChunk(row[0], row[1], _find_duplicates(reading, row[1]))


def _find_duplicates(reading: Session, chunk: ImportChunks) -> dict[int, int]:
    lines = {"import_id": chunk.import_id, "first": chunk.first_line, "last": chunk.last_line}
    return {row.line_no: row.first_line for row in reading.execute(_DUPLICATES, lines)}


@contextmanager
def pause_gc() -> Iterator[None]:
    """Turn the cyclic garbage collector off for the block; reference counting still frees objects without cycles.

    For whole invocations: searching the rows of chunks, which have no cycles, took a tenth of their time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def read_rows(loaded: LoadedChunk) -> ChunkInput:
    """Read, parse and coerce the chunk's rows in file order, and look up the exhibits that the case already holds.

    Rows at the keys of `first_lines` are rejected as duplicates. Raises StorageRefusedError if the bytes are not
    those that the splitting pass read.
    """
    import_record, chunk, first_lines = loaded
    layout = Layout.from_json(import_record.layout or "{}")
    coercer = RowCoercer(layout, import_record.case_id, import_record.id)
    if chunk.byte_end - chunk.byte_start > MAX_RECORD_BYTES:
        too_large = _reject_too_large(chunk, _read_original_line(import_record, chunk, layout))
        return ChunkInput(import_record, chunk, layout, [coercer.coerce(too_large)], {})
    records = _read_records(import_record, chunk, layout)
    columnar, rest = columnar_rows(records, coercer, excluded_lines=first_lines)
    others = [coercer.coerce(_parse(record, layout, first_lines.get(record.line_no))) for record in rest]
    return _compare_with_case(loaded, layout, columnar, others)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _compare_with_case(
    loaded: LoadedChunk, layout: Layout, columnar: ColumnarRows, others: Sequence[StorableRow]
) -> ChunkInput:
    case_id = loaded.import_record.case_id
    numbers = [*columnar.numbers, *(str(row.control_number) for row in others if not row.errors)]
    with session() as reading:
        held = _find_held(reading, case_id, numbers, layout.load_mode)
        # The end of a check needs dates and parents, and what describes how rows differ from exhibits, of which there
        # may be none, needs the properties. Where blanks clear, equal hashes do not prove equal values.
        is_check = loaded.import_record.status == ImportStatus.CHECKING
        in_volume = loaded.import_record.volume_id is not None
        hashes = (columnar.hashes, columnar.earlier_hashes)
        with_values = (
            is_check
            or in_volume
            or (layout.load_mode.is_overlay and layout.load_mode.blanks is Blanks.CLEAR)
            or any(map(partial(_is_new_or_differs, held), columnar.numbers, *hashes))
        )
        with_properties = bool(held) or not is_check
        rows = [*columnar.build_rows(with_values=with_values, with_properties=with_properties), *others]
        if others:
            rows.sort(key=lambda row: row.source.line_no)
        rows, files = link_rows(reading, loaded.import_record, layout, rows) if in_volume else (rows, None)
        chunk_input = ChunkInput(loaded.import_record, loaded.chunk, layout, rows, held, files)
        chunk_input.find_names(reading)
    return chunk_input


def _find_held(
    reading: Session, case_id: int, numbers: Sequence[str], load_mode: LoadMode
) -> Mapping[str, StoredExhibit]:
    if load_mode.is_overlay:
        found = find_by_key(reading, case_id, load_mode.overlay_key, set(numbers))
        return {key: StoredExhibit(first.id, 0, 0, first.row_hash) for key, [first, *_] in found.items()}
    return find_exhibits(reading, case_id, numbers) if may_hold(reading, case_id, numbers) else {}


def _is_new_or_differs(held: Mapping[str, StoredExhibit], number: str, *hashes: bytes) -> bool:
    return number not in held or held[number].row_hash not in hashes


def _reject_too_large(chunk: ImportChunks, original_line: int | None) -> Row:
    """Return the row of a record that is too large to be read; such a record is a chunk of its own."""
    size, line_count = chunk.byte_end - chunk.byte_start, chunk.last_line - chunk.first_line + 1
    source = SourceRecord(chunk.first_line, line_count, chunk.byte_start, size, None, original_line)
    message = f"The record has {size} bytes; the maximum is {MAX_RECORD_BYTES}. Shorten it."
    return Row(source, errors=[RowError(Rejection.RECORD_TOO_LARGE, None, message)])


def _read_original_line(import_record: Imports, chunk: ImportChunks, layout: Layout) -> int | None:
    """Return the number at the end of a chunk that is one record, of which only the end is read."""
    if not has_line_column(layout):
        return None
    # A whole number of code units of UTF-16, whatever the length of the record.
    size = chunk.byte_end - chunk.byte_start
    start = chunk.byte_end - TAIL_BYTES - size % 2
    tail = get_source(import_record).read(start, chunk.byte_end)
    return find_line_in_text(decode(tail, layout.encoding), layout.grammar)


def get_source(import_record: Imports) -> ObjectVersion:
    """Return the version of the file."""
    return ObjectVersion(import_record.bucket, import_record.object_key, import_record.version_id, import_record.etag)


def _read_records(import_record: Imports, chunk: ImportChunks, layout: Layout) -> list[SourceRecord]:
    raw = read_bytes(import_record, chunk)
    records = list(read_chunk(raw, layout, chunk.first_line, chunk.byte_start))
    if len(records) != chunk.row_count:
        raise build_miscount(len(records), chunk)
    return records


def read_bytes(import_record: Imports, chunk: ImportChunks) -> bytes:
    """Return the bytes of the chunk; raise StorageRefusedError if they are not those that the splitting pass read."""
    raw = get_source(import_record).read(chunk.byte_start, chunk.byte_end)
    if hashlib.sha256(raw).digest() != chunk.sha256:
        raise StorageRefusedError("The chunk's bytes differ from those that the splitting pass read.")
    return raw


def build_miscount(found: int, chunk: ImportChunks) -> StorageRefusedError:
    """Return the error for a chunk that has another number of records than the splitting pass counted."""
    return StorageRefusedError(f"The chunk has {found} records; the splitting pass counted {chunk.row_count}.")


def _parse(record: SourceRecord, layout: Layout, first_line: int | None) -> Row:
    row = parse_row(record, layout)
    if first_line is not None:
        message = f"Line {first_line} of this file has the same id. Keep one of the two rows."
        row.errors.append(RowError(Rejection.DUPLICATE_ID, None, message))
    return row
