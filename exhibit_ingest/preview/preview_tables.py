"""Print a preview as tables: what was detected, the columns, the first rows."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TextIO

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from core.imports.findings import Detected, Detection
from core.imports.preview import ColumnPreview, Preview, Sample
from exhibit_ingest.printable import shorten_printable

_WIDTH_WITHOUT_TERMINAL = 140
_CHARACTERS = {"\x14": "dc4 (020)", "\t": "tab", "\u00fe": "þ (254)", "\u00ae": "® (174)", ",": "comma (,)"}
_SHOWN_COLUMNS, _CELL, _NAME, _MESSAGE = 7, 24, 40, 1_000


def print_preview(file: Path, preview: Preview, output: TextIO) -> None:
    """Print the preview; texts of the file are shortened, without characters that control a terminal."""
    console = Console(file=output, highlight=False, emoji=False)
    if not console.is_terminal:
        console = Console(file=output, highlight=False, emoji=False, width=_WIDTH_WITHOUT_TERMINAL)
    for line in _describe(file, preview):
        console.print(line, soft_wrap=True, markup=False)
    console.print(_build_detection(preview.detection))
    console.print(_build_columns(preview))
    console.print(_build_rows(preview))
    for warning in preview.warnings:
        message = shorten_printable(f"{warning.column}: {warning.code}: {warning.message}", _MESSAGE)
        console.print(message, soft_wrap=True, markup=False)


def _describe(file: Path, preview: Preview) -> list[str]:
    name = shorten_printable(file.name, 100)
    if not preview.provisional:
        return [f"{name}: {preview.size:,} bytes, all of them read; {preview.rows_read:,} rows"]
    first = f"{name}: {preview.bytes_read:,} of {preview.size:,} bytes read; {preview.rows_read:,} rows"
    changing = ", ".join(each.replace("_", " ") for each in preview.may_change) or "nothing of what was detected"
    return [first, f"Provisional: the rest of the file can change {changing}, and the numbers of values."]


def _build_table(title: str, *columns: str) -> Table:
    table = Table(box=box.SIMPLE, title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _add_row(table: Table, *cells: object) -> None:
    table.add_row(*(Text(str(cell)) for cell in cells))


def _build_detection(detection: Detection) -> Table:
    table = _build_table("Detected", "what", "value", "how sure", "why")
    for each in fields(detection):
        finding: Detected = getattr(detection, each.name)
        _add_row(table, each.name.replace("_", " "), _name_value(finding.value), finding.certainty, finding.why)
    return table


def _name_value(value: str | bool | None) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
    return _CHARACTERS.get(value, shorten_printable(value, _CELL))


def _build_columns(preview: Preview) -> Table:
    table = _build_table(_title("Columns", len(preview.columns), preview.column_count), *_COLUMNS)
    for column in preview.columns:
        samples = "; ".join(_describe_sample(column, each) for each in column.samples)
        field = column.field or (f"property ({column.looks_like}?)" if column.looks_like else "property")
        name = shorten_printable(column.name, _NAME)
        _add_row(table, column.number, name, field, column.why, samples, column.blank, column.distinct)
    return table


_COLUMNS = ("#", "column", "field", "why", "samples", "blank", "distinct")


def _describe_sample(column: ColumnPreview, sample: Sample) -> str:
    text = shorten_printable(sample.text, _CELL)
    value = "; ".join(sample.value) if isinstance(sample.value, list) else sample.value
    stored = None if value is None else shorten_printable(value, _CELL)
    if sample.code:
        return f"{text} ({sample.code})"
    return text if stored == text or column.field is None or stored is None else f"{text} -> {stored}"


def _build_rows(preview: Preview) -> Table:
    columns = [column for column in preview.columns if column.field][:_SHOWN_COLUMNS]
    names = [shorten_printable(column.name, _CELL) for column in columns]
    table = _build_table(
        f"First rows ({len(preview.rows)}), columns with a field", "line", *map(str, names), "findings"
    )
    for row in preview.rows:
        cells = row.cells or []
        texts = ["".join(cells[each.number - 1 : each.number]) for each in columns]
        _add_row(table, row.line, *(shorten_printable(text, _CELL) for text in texts), ", ".join(row.codes))
    return table


def _title(name: str, listed: int, count: int) -> str:
    return f"{name} ({count:,})" if listed == count else f"{name} (the first {listed:,} of {count:,})"
