"""Read the bytes of a chunk into records with their positions in the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import accumulate, repeat

from core.load_file import encoding as enc
from core.load_file.grammar import Grammar, LineCursor
from core.load_file.layout import Layout
from core.load_file.original_lines import find_joined_line, find_last_line
from core.load_file.record_reader import SourceRecord, read_records, read_single_line_records


def read_chunk(raw: bytes, layout: Layout, first_line: int, byte_start: int) -> Iterator[SourceRecord]:
    """Yield the records of a chunk that begins at this physical line and this byte of the file, but for blank ones."""
    if layout.json_cells:
        yield from _read_json_cells(raw, layout, first_line, byte_start)
        return
    lines = enc.split_lines(raw, layout.encoding, layout.grammar.cr_ends)
    rows = read_single_line_records(lines, layout.grammar)
    if rows is not None:
        starts = accumulate(lines.sizes, initial=byte_start)
        yield from map(SourceRecord, range(first_line, first_line + len(rows)), repeat(1), starts, lines.sizes, rows)
        return
    offsets = [0, *accumulate(lines.sizes)]
    for first, count, cells in read_records(lines, layout.grammar, at_end=True, cursor=LineCursor()):
        if cells is not None and layout.grammar.is_blank(cells):
            continue
        start, end = offsets[first], first + count
        number = find_joined_line(lines.texts[first:end], layout, is_sound=cells is not None)
        sound = cells if number is None else None
        yield SourceRecord(first_line + first, count, byte_start + start, offsets[end] - start, sound, number)


def _read_json_cells(raw: bytes, layout: Layout, first_line: int, byte_start: int) -> Iterator[SourceRecord]:
    """Yield the records of a correction, each with the line that it corrects and the cells that a file would have."""
    grammar, start = layout.grammar, byte_start
    for line_no, line in enumerate(raw.splitlines(keepends=True), start=first_line):
        row = json.loads(line)
        cells = [*row["cells"], ""] if grammar.spare_cell else row["cells"]
        lines, version = _count_lines(cells, grammar), row.get("version")
        yield SourceRecord(line_no, lines, start, len(line), cells, row["line"], version)
        start += len(line)


def _count_lines(cells: list[str], grammar: Grammar) -> int:
    """Return how many physical lines the cells would have in a file."""
    text = "".join(cells)
    return 1 + text.count("\n") + (text.count("\r") - text.count("\r\n") if grammar.cr_ends else 0)


def read_large_record(tail: bytes, layout: Layout, record: SourceRecord) -> SourceRecord:
    """Return a record that is too large to be read, with the original line that is at its end, in `tail`."""
    return record._replace(original_line=find_last_line(enc.decode(tail, layout.encoding), layout))
