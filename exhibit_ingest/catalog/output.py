"""Print a list of the database: a table for people, JSON for programs, or CSV for a spreadsheet."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from pydantic import BaseModel
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.csv_cells import neutralize_formula
from local.errors import LocalError

_WIDTH_WITHOUT_TERMINAL = 140
_NARROW = 130
# Times, days and versions do not wrap; names, titles and values do.
_WHOLE = re.compile(r"(_at|_date)$|^(version|action)$")
_FRACTION = re.compile(r"(?<=T\d\d:\d\d:\d\d)\.\d{6}Z$")


def to_row(item: BaseModel, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a model as JSON has them, by the names of the output."""
    values = item.model_dump(mode="json", include=set(names.values()))
    return {name: values[field] for name, field in names.items()}


def _to_cell(value: Any) -> str:
    """Return the value for a table; a time to the second."""
    return "" if value is None else _FRACTION.sub("Z", str(value))


def build_console(output: TextIO) -> Console:
    """Return a console for tables, of 140 columns if the output is not a terminal."""
    console = Console(file=output, highlight=False, emoji=False)
    if console.is_terminal:
        return console
    return Console(file=output, highlight=False, emoji=False, width=_WIDTH_WITHOUT_TERMINAL)


def print_table(rows: Iterable[Mapping[str, Any]], names: Sequence[str], output: TextIO) -> None:
    """Print rows as a table, on 140 columns if the output is not a terminal."""
    console = build_console(output)
    table = Table(box=box.SIMPLE)
    for name in names:
        # In a narrow terminal a column that cannot wrap would be cut.
        is_whole = console.width >= _NARROW and _WHOLE.search(name) is not None
        table.add_column(name.replace("_", " "), overflow="fold", no_wrap=is_whole)
    for row in rows:
        table.add_row(*(Text(_to_cell(row[name])) for name in names))
    console.print(table)


def print_json(member: str, rows: Iterable[Mapping[str, Any]], output: TextIO) -> None:
    """Print one JSON object whose only member is the list; rows are written as they come."""
    output.write(f'{{"{member}": [')
    for number, row in enumerate(rows):
        output.write(("," if number else "") + "\n  " + json.dumps(row, ensure_ascii=False))
    output.write("\n]}\n")


def write_csv(path: Path, rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> int:
    """Write rows as CSV in UTF-8 with a byte order mark, which Excel needs; return how many there were.

    A cell that a spreadsheet would evaluate begins with an apostrophe. Raises LocalError if the file cannot be written.
    """
    count = 0
    try:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            for row in rows:
                writer.writerow(["" if row[name] is None else neutralize_formula(str(row[name])) for name in names])
                count += 1
    except OSError as exc:
        raise LocalError(f"{path} cannot be written: {exc.strerror}; choose another file") from exc
    return count
