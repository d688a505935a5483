"""What a chunk of a load file says: its rows, read, parsed and fitted, before the transaction that writes them.

Guaranteed: the bytes are those that the splitter saw, or the chunk is tried again; nothing here changes anything.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from core.errors import StorageUnavailableError
from core.load_file.chunk import SourceRecord, read_chunk
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.layout import Layout
from core.reasons import Rejection
from core.rows import Problem, Row, parse_row
from shell.exhibit_ops import StoredExhibit, may_hold, stored_exhibits
from shell.fitting_ops import FittedRow, Fitter
from shell.plain_rows_ops import plain_rows
from shell.tables.chunks import ImportChunks, ImportDuplicates
from shell.tables.imports import Imports
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.keys import unstorable
from shell.utils.object_store import ObjectVersion

_DUPLICATES = select(ImportDuplicates.line_no, ImportDuplicates.first_line).where(
    ImportDuplicates.import_id == bindparam("import_id"),
    ImportDuplicates.line_no.between(bindparam("first"), bindparam("last")),
)


@dataclass(frozen=True)
class ChunkInput:
    """What is known of a chunk before its transaction: plain values, for every attempt the same.

    `held` is what the case held of the rows, by control number.
    """

    the_import: Imports
    chunk: ImportChunks
    rows: Sequence[FittedRow]
    held: Mapping[str, StoredExhibit]


def duplicates(reading: Session, chunk: ImportChunks) -> dict[int, int]:
    """The chunk's lines whose id an earlier line of the file has, each with that line."""
    place = {"import_id": chunk.import_id, "first": chunk.first_line, "last": chunk.last_line}
    found = reading.execute(_DUPLICATES, place)
    return {row.line_no: row.first_line for row in found}


def read(the_import: Imports, chunk: ImportChunks, first_lines: Mapping[int, int]) -> ChunkInput:
    """Read, parse and fit the chunk's rows, in the order of the file, and look up what the case holds of them.

    `first_lines` are its `duplicates`, which are rejected.
    Raises StorageUnavailableError for bytes that are not those that the splitter saw.
    """
    fitter = Fitter(Layout.from_json(the_import.layout or "{}"), the_import.case_id, the_import.id)
    if chunk.byte_end - chunk.byte_start > MAX_RECORD_BYTES:
        return ChunkInput(the_import, chunk, [fitter.fit(_too_large(chunk))], {})
    records = _records(the_import, chunk, fitter.layout)
    plain, rest = plain_rows(records, fitter, but=first_lines)
    others = [_row(each, fitter.layout, first_lines.get(each.line_no)) for each in rest]
    numbers = [*plain.numbers, *_numbers_of(others, fitter)]
    held = _held(the_import, numbers)
    rows = [*plain.fitted(with_values=not held.keys() >= set(plain.numbers)), *map(fitter.fit, others)]
    if others:
        rows.sort(key=lambda row: row.source.line_no)
    return ChunkInput(the_import, chunk, rows, held)


def _records(the_import: Imports, chunk: ImportChunks, layout: Layout) -> list[SourceRecord]:
    source = ObjectVersion(the_import.bucket, the_import.object_key, the_import.version_id, the_import.etag)
    raw = source.read(chunk.byte_start, chunk.byte_end)
    if hashlib.sha256(raw).digest() != chunk.sha256:
        raise StorageUnavailableError("the chunk's bytes are not those that the splitter read")
    records = list(read_chunk(raw, layout, chunk.first_line, chunk.byte_start))
    if len(records) != chunk.row_count:
        raise StorageUnavailableError(f"the chunk has {len(records)} records, the splitter saw {chunk.row_count}")
    return records


def _too_large(chunk: ImportChunks) -> Row:
    """The row of a record that is too large to be read: it is a chunk of its own."""
    size = chunk.byte_end - chunk.byte_start
    source = SourceRecord(chunk.first_line, chunk.last_line - chunk.first_line + 1, chunk.byte_start, size, None)
    message = f"the record has {size} bytes; the most that is read is {MAX_RECORD_BYTES}"
    return Row(source, problems=[Problem(Rejection.RECORD_TOO_LARGE, None, message)])


def _row(record: SourceRecord, layout: Layout, first_line: int | None) -> Row:
    row = parse_row(record, layout)
    if first_line is not None:
        message = f"line {first_line} of this file has the same id"
        row.problems.append(Problem(Rejection.DUPLICATE_ID, None, message))
    return row


def _numbers_of(rows: Sequence[Row], fitter: Fitter) -> list[str]:
    """The ids that may be looked up: the server refuses even to look for one that its column cannot hold."""
    named = [row.control_number for row in rows if row.control_number and not row.problems]
    return [number for number in named if not unstorable(number, fitter.exhibits["control_number"])]


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _held(the_import: Imports, control_numbers: Sequence[str]) -> dict[str, StoredExhibit]:
    with session() as reading:
        if not may_hold(reading, the_import.case_id, control_numbers):
            return {}
        return stored_exhibits(reading, the_import.case_id, control_numbers)
