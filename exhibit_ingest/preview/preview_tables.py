"""Print a preview, as the API describes it, as tables: what was detected, the columns, the first rows."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from exhibit_ingest.printable import shorten_printable

_Document = dict[str, Any]
_WIDTH_WITHOUT_TERMINAL = 140
_CHARACTERS = {"\x14": "dc4 (020)", "\t": "tab", "\u00fe": "þ (254)", "\u00ae": "® (174)", ",": "comma (,)"}
_SHOWN_COLUMNS, _CELL, _NAME, _MESSAGE = 7, 24, 40, 1_000
_COLUMNS = ("#", "column", "field", "why", "samples", "blank", "distinct")


def print_preview(file: Path, preview: _Document, output: TextIO) -> None:
    """Print the preview; texts of the file are shortened, without characters that control a terminal."""
    console = Console(file=output, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(file=output, highlight=False, emoji=False, width=_WIDTH_WITHOUT_TERMINAL)
    for line in _describe(file, preview):
        console.print(line, soft_wrap=True, markup=False)
    console.print(_build_detection(preview["detection"]))
    if images := preview["images"]:
        console.print(_build_image_lines(images["columns"], preview["rows"]))
    else:
        console.print(_build_columns(preview))
        console.print(_build_rows(preview))
    for warning in preview["warnings"]:
        message = shorten_printable(f"{warning['column']}: {warning['code']}: {warning['message']}", _MESSAGE)
        console.print(message, soft_wrap=True, markup=False)


def _describe(file: Path, preview: _Document) -> list[str]:
    name, rows = shorten_printable(file.name, 100), f"{preview['rowsRead']:,} rows"
    if images := preview["images"]:
        documents = "" if images["documents"] is None else f" of {images['documents']:,} documents"
        rows = f"{images['kind'].upper()} file with {images['pages']:,} pages{documents}"
    if not preview["provisional"]:
        return [f"{name}: {preview['size']:,} bytes, all of them read; {rows}"]
    first = f"{name}: {preview['bytesRead']:,} of {preview['size']:,} bytes read; {rows}"
    changing = ", ".join(map(_to_words, preview["mayChange"])) or "nothing of what was detected"
    return [first, f"Provisional: the rest of the file can change {changing}, and the numbers of values."]


def _to_words(name: str) -> str:
    return re.sub("([A-Z])", r" \1", name).lower().replace("_", " ")


def _build_table(title: str, *columns: str) -> Table:
    table = Table(box=box.SIMPLE, title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _add_row(table: Table, *cells: object) -> None:
    table.add_row(*(Text(str(cell)) for cell in cells))


def _build_detection(detection: _Document) -> Table:
    table = _build_table("Detected", "what", "value", "how sure", "why")
    for name, found in detection.items():
        _add_row(table, _to_words(name), _name_value(found["value"]), found["certainty"], found["why"])
    return table


def _name_value(value: str | bool | None) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
    return _CHARACTERS.get(value, shorten_printable(value, _CELL))


def _build_columns(preview: _Document) -> Table:
    columns, count = preview["columns"], preview["columnCount"]
    listed = f"{count:,}" if len(columns) == count else f"the first {len(columns):,} of {count:,}"
    table = _build_table(f"Columns ({listed})", *_COLUMNS)
    for column in columns:
        samples = "; ".join(_describe_sample(column, each) for each in column["samples"])
        looks_like = f"property ({column['looksLike']}?)" if column["looksLike"] else "property"
        name, field = shorten_printable(column["name"], _NAME), column["field"] or looks_like
        _add_row(table, column["number"], name, field, column["why"], samples, column["blank"], column["distinct"])
    return table


def _describe_sample(column: _Document, sample: _Document) -> str:
    text, value = shorten_printable(sample["text"], _CELL), sample["value"]
    joined = "; ".join(value) if isinstance(value, list) else value
    stored = None if joined is None else shorten_printable(joined, _CELL)
    if sample["code"]:
        return f"{text} ({sample['code']})"
    return text if stored == text or column["field"] is None or stored is None else f"{text} -> {stored}"


def _build_rows(preview: _Document) -> Table:
    columns = [column for column in preview["columns"] if column["field"]][:_SHOWN_COLUMNS]
    names = [shorten_printable(column["name"], _CELL) for column in columns]
    title = f"First rows ({len(preview['rows'])}), columns with a field"
    table = _build_table(title, "line", *names, "findings")
    for row in preview["rows"]:
        cells = row["cells"] or []
        texts = ["".join(cells[each["number"] - 1 : each["number"]]) for each in columns]
        _add_row(table, row["line"], *(shorten_printable(text, _CELL) for text in texts), ", ".join(row["codes"]))
    return table


def _build_image_lines(columns: list[str], rows: list[_Document]) -> Table:
    table = _build_table(f"First lines ({len(rows)})", "line", *columns, "findings")
    for row in rows:
        cells = [*(row["cells"] or []), *[""] * len(columns)][: len(columns)]
        _add_row(table, row["line"], *(shorten_printable(text, _CELL) for text in cells), ", ".join(row["codes"]))
    return table
