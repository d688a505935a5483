"""Rules of the report files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from core.field_mapping import FIELDS
from core.load_file.layout import Layout

MAX_WINDOW_BYTES = 4_000_000
MAX_GAP_BYTES = 65_536
# What makes a spreadsheet evaluate a cell (OWASP, "CSV injection").
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass
class Window:
    """Byte ranges [start, end) of a file that are read at once, from `start` to `end`."""

    start: int
    end: int
    ranges: list[tuple[int, int]]


def windows(ranges: Iterable[tuple[int, int]]) -> Iterator[Window]:
    """Ascending byte ranges, gathered while they lie close together and do not make a window over 4 MB."""
    window: Window | None = None
    for start, end in ranges:
        if window and start - window.end <= MAX_GAP_BYTES and end - window.start <= MAX_WINDOW_BYTES:
            window.end = end
            window.ranges.append((start, end))
            continue
        if window:
            yield window
        window = Window(start, end, [(start, end)])
    if window:
        yield window


def reload_options(layout: Layout) -> dict[str, Any]:
    """The options with which rows of a file are read as the whole file was.

    A few rows show less than all of them: read by themselves, day and month or the encoding could come out otherwise.
    """
    return {
        "encoding": layout.encoding,
        "delimiter": layout.grammar.delimiter,
        "qualifier": layout.grammar.qualifier or "none",
        "newline": layout.newline or "none",
        "header": layout.body_line > 1,
        "date_order": layout.date_order,
        "columns": {
            # By name where there are names: a column that is called "3" need not be the third.
            name if layout.body_line > 1 else str(place): field
            for place, (name, field) in enumerate(zip(layout.names, layout.fields, strict=True), start=1)
            if field in FIELDS
        },
    }


def neutralised(cell: str) -> str:
    """The cell so that a spreadsheet shows it and does not evaluate it."""
    return "'" + cell if cell.startswith(_FORMULA_STARTS) else cell
