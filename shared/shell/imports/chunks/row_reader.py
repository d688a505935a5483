"""Read a chunk of rows: from the bytes of the load file to rows that can be stored, and what the case holds for them.

Guaranteed: it only reads, and may run while another thread writes another chunk.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.cells.keys import show_text
from core.codes import Rejection
from core.imports.columns.facts import ColumnFacts
from core.load_file.chunk_reader import read_chunk, read_large_record
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import RowError, parse_row
from shell.imports.chunks.case_reader import read_case
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.chunk_source import LoadedChunk, build_miscount, read_bytes, read_part
from shell.imports.corrections.uploaded_rows import find_refused_rows
from shell.imports.rows.coercion import RowCoercer, StorableRow
from shell.imports.rows.column_effects import find_column_facts
from shell.imports.rows.columnar_rows import ColumnarRows, columnar_rows

# Enough for a number with its delimiters and qualifiers, and blank lines.
TAIL_BYTES = 1_000


def read_rows(loaded: LoadedChunk) -> ChunkInput:
    """Read, parse and coerce the chunk's rows in file order, and look up the exhibits that the case already holds.

    Rows at the keys of `first_lines` are rejected as duplicates, and those of an uploaded correction if their lines are
    not open. Raises StorageRefusedError if the bytes are not those that the splitting pass read.
    """
    records = _read_records(loaded)
    columnar, others, facts = _coerce_records(loaded, records)
    return read_case(loaded, columnar, others, facts)


def _read_records(loaded: LoadedChunk) -> list[SourceRecord]:
    chunk, layout = loaded.chunk, loaded.layout
    size, lines = chunk.byte_end - chunk.byte_start, chunk.last_line - chunk.first_line + 1
    is_large = size > MAX_RECORD_BYTES
    # Of one large record only the end is read: a whole number of code units of UTF-16, whatever its length.
    tail_start = chunk.byte_end - TAIL_BYTES - size % 2
    raw = read_part(loaded, tail_start, chunk.byte_end) if is_large else read_bytes(loaded)
    if is_large:
        return [read_large_record(raw, layout, SourceRecord(chunk.first_line, lines, chunk.byte_start, size, None))]
    records = list(read_chunk(raw, layout, chunk.first_line, chunk.byte_start))
    if len(records) != chunk.row_count:
        raise build_miscount(len(records), chunk)
    return records


def _coerce_records(
    loaded: LoadedChunk, records: Sequence[SourceRecord]
) -> tuple[ColumnarRows, list[StorableRow], ColumnFacts]:
    """Return the regular records as columns, the rows of the others, both in file order, and the facts of the columns.

    The facts leave out the rows with errors, whatever the case holds.
    """
    coercer = RowCoercer(loaded.layout, loaded.import_record.case_id, loaded.import_record.id)
    refused = find_refused_rows(loaded.import_record, loaded.layout, records)
    columnar, rest = columnar_rows(records, coercer, excluded_lines={*loaded.first_lines, *refused})
    rows = [parse_row(record, loaded.layout) for record in rest]
    for row in rows:
        first_line = loaded.first_lines.get(row.source.line_no)
        if first_line is not None:
            shown = show_text(row.control_number or "")
            message = f"Line {first_line} of this file has the same id, {shown}. Keep one of the two rows."
            row.errors.append(RowError(Rejection.DUPLICATE_ID, None, message))
        if not row.errors and row.source.line_no in refused:
            row.errors.append(refused[row.source.line_no])
    storable = [coercer.coerce(row) for row in rows]
    return columnar, storable, find_column_facts(loaded.layout, columnar, rows)
