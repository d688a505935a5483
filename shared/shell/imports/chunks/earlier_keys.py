"""Read rows once more as earlier versions read their ids, for documents that these stored.

Guaranteed: a row that an earlier version has imported is compared with its document, although its id is written in a
way that is read otherwise now, or not accepted any more. No statement is added: the case is looked up for both ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from core.cells.keys import describe_control, unwrap_formula
from core.exhibit_fields import KEYS
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.rows import parse_row
from shell.imports.chunks.chunk_source import LoadedChunk
from shell.imports.chunks.exhibit_store import StoredExhibit
from shell.imports.rows.coercion import RowCoercer, StorableRow

_KEY_FIELDS = frozenset({*KEYS, "family_begin"})


def read_earlier_keys(loaded: LoadedChunk, rows: Sequence[StorableRow]) -> dict[int, StorableRow]:
    """Return the rows, by line, whose keys are read otherwise now, as earlier versions read them.

    Rows that those versions would have rejected, and duplicates, are left out.
    """
    found: dict[int, StorableRow] = {}
    if loaded.layout.judges_keys:
        layout = replace(loaded.layout, judges_keys=False)
        coercer = RowCoercer(layout, loaded.import_record.case_id, loaded.import_record.id)
        for row in _find_changed(loaded, rows):
            earlier = coercer.coerce(parse_row(row.source, layout))
            if not earlier.errors:
                found[row.source.line_no] = earlier
    return found


def _find_changed(loaded: LoadedChunk, rows: Sequence[StorableRow]) -> Iterator[StorableRow]:
    layout = loaded.layout
    indexes = [index for index, field in enumerate(layout.fields) if field in _KEY_FIELDS]
    for row in rows:
        cells = row.source.cells
        if cells is None or row.source.line_no in loaded.first_lines or not layout.grammar.has_expected_cells(cells):
            continue
        if any(_is_read_otherwise(cells[index].strip(ASCII_WHITESPACE)) for index in indexes):
            yield row


def _is_read_otherwise(key: str) -> bool:
    return unwrap_formula(key) != key or describe_control(key) is not None


def choose_keys(
    rows: Sequence[StorableRow], earlier: Mapping[int, StorableRow], held: Mapping[str, StoredExhibit]
) -> Sequence[StorableRow]:
    """Return each row, or how an earlier version read it if the case has the document that it stored."""
    if not earlier:
        return rows
    return [_choose(row, earlier.get(row.source.line_no), held) for row in rows]


def _choose(row: StorableRow, earlier: StorableRow | None, held: Mapping[str, StoredExhibit]) -> StorableRow:
    stored = held.get(str(earlier.control_number)) if earlier else None
    if earlier is None or stored is None:
        return row
    has_earlier_id = _is_read_otherwise(str(earlier.control_number))
    return earlier if has_earlier_id or earlier.is_equal(stored.row_hash) else row
