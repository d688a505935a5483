"""Rules of the report files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from core.field_mapping import FIELDS, map_columns
from core.load_file.layout import Layout

MAX_WINDOW_BYTES = 4_000_000
MAX_GAP_BYTES = 65_536
# What makes a spreadsheet evaluate a cell (OWASP, "CSV injection" and ASVS 1.2.10), in some countries in full width.
_FORMULA_STARTS = (*"=+-@", "\t", "\r", "\n", "\0", *"＝＋－＠")


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
        "columns": _columns(layout),
    }


def _columns(layout: Layout) -> dict[str, str]:
    # By name where there are names: a column that is called "3" need not be the third.
    keys = layout.names if layout.body_line > 1 else [str(place) for place in range(1, len(layout.names) + 1)]
    given = {key: field for key, field in zip(keys, layout.fields, strict=True) if field in FIELDS and field}
    # A column that was to be a property, although its name means a field, would be taken for that field; and with it
    # out of the way, the next one of that meaning.
    while True:
        taken = map_columns(layout.names, given)
        more = {key: "property" for key, was, now in zip(keys, layout.fields, taken, strict=True) if now and not was}
        if not more:
            return given
        given |= more


def neutralised(cell: str) -> str:
    """The cell so that a spreadsheet shows it and does not evaluate it."""
    return "'" + cell if cell.startswith(_FORMULA_STARTS) else cell
