"""A chunk's bytes to its records, with the places they have in the file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate, repeat
from typing import NamedTuple

from core.load_file import encoding as enc
from core.load_file.grammar import Reading
from core.load_file.layout import Layout
from core.load_file.plain_lines import one_a_line
from core.load_file.records import read_records


class SourceRecord(NamedTuple):
    """A record of the file: its first physical line, how many lines, its bytes, and its cells (None: unreadable)."""

    line_no: int
    line_count: int
    byte_start: int
    byte_len: int
    cells: list[str] | None


def read_chunk(raw: bytes, layout: Layout, first_line: int, byte_start: int) -> Iterator[SourceRecord]:
    """The records of a chunk that begins at that line and byte of the file."""
    lines = enc.lines(raw, layout.encoding)
    offsets = [0, *accumulate(lines.sizes)]
    apart = one_a_line(lines, layout.grammar)
    if apart is not None:
        starts = accumulate(lines.sizes, initial=byte_start)
        yield from map(SourceRecord, range(first_line, first_line + len(apart)), repeat(1), starts, lines.sizes, apart)
        return
    for first, count, cells in read_records(lines, layout.grammar, at_end=True, reading=Reading()):
        start = offsets[first]
        yield SourceRecord(first_line + first, count, byte_start + start, offsets[first + count] - start, cells)
