"""The table of `exhibit-ingest imports`, with the columns that fit into the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TextIO

from rich import box
from rich.table import Table
from rich.text import Text

from core.statuses import ImportPhase
from exhibit_ingest.catalog.output import build_console

_COUNTS = ("rows", "imported", "unchanged", "updated", "rejected", "warnings")
_COUNTS_OF_CHECKS = _COUNTS[1:]
_COLUMNS = ("id", "file name", "status", *_COUNTS, "started at")
# In this order, but those with only zeros first.
_LEFT_OUT = ("warnings", "unchanged", "updated", "started at", "rows")
# These wrap: a name anywhere, a status between its words, of which the longest is "rejections".
_WRAPPING = {"file name": 14, "status": 10}
_WIDE_GAP, _NARROW_GAP = 3, 2
Cells = dict[str, str]


def print_imports(rows: Sequence[Mapping[str, Any]], output: TextIO) -> None:
    """Print the imports with as many columns as fit on the terminal, and say which are left out.

    The counts of a check stand in parentheses, because no row of it is in the case.
    """
    console = build_console(output)
    cells = [_build_cells(row) for row in rows]
    left_out = _choose_left_out(cells, console.width)
    names = [name for name in _COLUMNS if name not in left_out]
    console.print(_build_table(names, cells, console.width))
    notes = []
    if any(row["phase"] == ImportPhase.CHECK for row in rows):
        notes.append("(Numbers in parentheses are from a check: nothing was imported.)")
    if left_out:
        listed = ", ".join(name for name in _COLUMNS if name in left_out)
        notes.append(f"(A wider terminal has room for: {listed}. --json prints them too.)")
    for note in notes:
        console.print(note, soft_wrap=True)


def _build_cells(row: Mapping[str, Any]) -> Cells:
    is_check = row["phase"] == ImportPhase.CHECK
    counts = {name: f"{row['rows_seen' if name == 'rows' else name]:,}" for name in _COUNTS}
    return {
        "id": str(row["id"]),
        "file name": row["file_name"],
        "status": row["status"].replace("_", " "),
        **{name: f"({count})" if is_check and name in _COUNTS_OF_CHECKS else count for name, count in counts.items()},
        "started at": row["started_at"][:16].replace("T", " "),
    }


def _choose_left_out(cells: Sequence[Cells], width: int) -> set[str]:
    """Return the columns without which the others fit: those that have only zeros first."""
    order = sorted(_LEFT_OUT, key=lambda name: any(each[name].strip("()") != "0" for each in cells))
    left_out: set[str] = set()
    for name in order:
        if _measure([each for each in _COLUMNS if each not in left_out], cells, _NARROW_GAP) <= width:
            break
        left_out.add(name)
    return left_out


def _measure(names: Sequence[str], cells: Sequence[Cells], gap: int) -> int:
    """Return the width of a table in which no column is narrower than its words."""
    widths = [max(len(name), *(len(each[name]) for each in cells), 0) for name in names]
    least = [min(width, _WRAPPING.get(name, width)) for name, width in zip(names, widths, strict=True)]
    return sum(least) + gap * len(names)


def _build_table(names: Sequence[str], cells: Sequence[Cells], width: int) -> Table:
    is_wide = _measure(names, cells, _WIDE_GAP) <= width
    table = Table(box=box.SIMPLE, padding=(0, 1) if is_wide else (0, 1, 0, 0), pad_edge=is_wide)
    for name in names:
        justify: Any = "right" if name in ("id", *_COUNTS) else "left"
        table.add_column(name, justify=justify, no_wrap=name not in _WRAPPING, overflow="fold")
    for each in cells:
        table.add_row(*(Text(each[name]) for name in names))
    return table
