"""Tables for people: on a terminal with the columns that fit, elsewhere with all of them and one line for each row.

Guaranteed: a number, a day or a control number is never cut; where the terminal is too narrow even for those, they
continue on the next line. No value controls the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from exhibit_ingest.printable import shorten_printable

if TYPE_CHECKING:
    from rich.console import Console

_WIDE_GAP, _NARROW_GAP = 3, 2
# Of a text that wraps; elsewhere than on a terminal, one line has the whole row.
_LONGEST_ON_TERMINAL, _LONGEST_IN_LINE = 300, 80
# Of sentences, which lose their next step if they are cut.
_LONGEST_SENTENCE = 300
_LEAST = 8
_WHOLE = 10_000
Cells = Mapping[str, str]


class Column(NamedTuple):
    """A column: a number or a text.

    A text with `least` characters or more wraps, down to this width; without `least`, it stays on one line. Where the
    terminal is narrow, the columns with the highest `rank` are left out first; those of rank 0 never. Elsewhere than on
    a terminal, a text that wraps is cut after `longest` characters.
    """

    name: str
    is_number: bool = False
    least: int | None = None
    rank: int = 0
    longest: int = _LONGEST_IN_LINE


def print_table(columns: Sequence[Column], rows: Sequence[Cells], output: TextIO, width: int | None = None) -> None:
    """Print the rows, and which columns the terminal has no room for; `width` is that of the terminal by default."""
    from rich.console import Console

    console = Console(file=output, highlight=False, emoji=False, width=width)
    if not console.is_terminal:
        rows = [_shorten(row, columns) for row in rows]
        needed = sum(_measure(columns, rows)) + _WIDE_GAP * len(columns) + 1
        console = Console(file=output, highlight=False, emoji=False, width=needed)
        columns = [column._replace(least=None) for column in columns]
    else:
        on_terminal = [column._replace(longest=_LONGEST_ON_TERMINAL) for column in columns]
        rows = [_shorten(row, on_terminal) for row in rows]
    chosen = _choose(columns, rows, console.width)
    _print(chosen, rows, console)
    left_out = [column.name for column in columns if column not in chosen]
    if left_out:
        note = f"(A wider terminal has room for: {', '.join(left_out)}. --json prints them too.)"
        console.print(note, soft_wrap=True, markup=False)


def print_rows(names: Sequence[str], rows: Iterable[Sequence[Any]], *, numbers: Sequence[str] = ()) -> None:
    """Print a table on standard output whose texts all wrap where the terminal is narrow, and that has all columns.

    `numbers` are the columns of numbers.
    """
    columns = [
        Column(name, is_number=True) if name in numbers else Column(name, least=_LEAST, longest=_LONGEST_SENTENCE)
        for name in names
    ]
    cells = [dict(zip(names, map(_format_cell, row), strict=True)) for row in rows]
    print_table(columns, cells, sys.stdout)


def _format_cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)


def _shorten(row: Cells, columns: Sequence[Column]) -> Cells:
    lengths = {column.name: _WHOLE if column.least is None else column.longest for column in columns}
    return {name: shorten_printable(row[name], length) for name, length in lengths.items()}


def _choose(columns: Sequence[Column], rows: Sequence[Cells], width: int) -> list[Column]:
    """Return the columns that fit, in their order; those with nothing in them are left out first."""
    chosen = list(columns)
    droppable = [column for column in columns if column.rank]
    for each in sorted(droppable, key=lambda column: (not _is_empty(column, rows), -column.rank)):
        if _fits(chosen, rows, width, _NARROW_GAP):
            break
        chosen.remove(each)
    return chosen


def _is_empty(column: Column, rows: Sequence[Cells]) -> bool:
    return all(row[column.name].strip("()") in ("", "0") for row in rows)


def _fits(columns: Sequence[Column], rows: Sequence[Cells], width: int, gap: int) -> bool:
    least = [
        needed if column.least is None else min(needed, column.least)
        for column, needed in zip(columns, _measure(columns, rows), strict=True)
    ]
    return sum(least) + gap * len(columns) <= width


def _measure(columns: Sequence[Column], rows: Sequence[Cells]) -> list[int]:
    """Return the width of each column in which nothing wraps, in cells of a terminal."""
    from rich.cells import cell_len

    return [max([cell_len(column.name), *(cell_len(row[column.name]) for row in rows)]) for column in columns]


def _print(columns: Sequence[Column], rows: Sequence[Cells], console: Console) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    is_wide = _fits(columns, rows, console.width, _WIDE_GAP)
    fits = is_wide or _fits(columns, rows, console.width, _NARROW_GAP)
    table = Table(box=box.SIMPLE, padding=(0, 1) if is_wide else (0, 1, 0, 0), pad_edge=is_wide)
    for column in columns:
        justify: Any = "right" if column.is_number else "left"
        # A column that cannot wrap would be cut where it does not fit.
        table.add_column(column.name, justify=justify, no_wrap=fits and column.least is None, overflow="fold")
    for row in rows:
        table.add_row(*(Text(row[column.name]) for column in columns))
    console.print(table)
