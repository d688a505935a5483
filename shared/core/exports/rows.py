"""Write rows of an export as CSV or JSON Lines.

Guaranteed: a row of JSON Lines is one line of ASCII, so that no reader takes a character within a value for the end of
a line (RFC 8259, section 7, has the escapes); a cell of a CSV file that a spreadsheet would evaluate has an apostrophe
before it, as in the reports of imports. Each row depends on its values alone: files that are put together from parts
are those that would be written in one.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from core.csv_cells import neutralize_formula
from core.exports.columns import ExportFormat, to_camel
from core.timestamps import format_timestamp

Row = Mapping[str, Any]
# With a byte order mark; without it spreadsheets assume the local code page.
_MARK = "\ufeff"
MEDIA_TYPES = {ExportFormat.CSV: "text/csv; charset=utf-8", ExportFormat.JSONL: "application/x-ndjson"}
_ENCODER = json.JSONEncoder(separators=(",", ":"))


def build_writer(export_format: ExportFormat, columns: Sequence[str]) -> Callable[[Row], bytes]:
    """Return a function that writes a row; it has the values by column, and may lack some."""
    if export_format is ExportFormat.CSV:
        return lambda row: _write_line([_format_cell(name, row.get(name)) for name in columns])
    names = [(name, to_camel(name)) for name in columns]
    return lambda row: _write_object({named: _format_value(name, row[name]) for name, named in names if name in row})


def write_header(export_format: ExportFormat, columns: Sequence[str]) -> bytes:
    """Return what comes before the first row."""
    if export_format is ExportFormat.CSV:
        return _MARK.encode() + _write_line([to_camel(name) for name in columns])
    return b""


def _write_object(values: Mapping[str, Any]) -> bytes:
    return f"{_ENCODER.encode(values)}\n".encode()


def _write_line(cells: Sequence[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().encode()


def _format_value(name: str, value: Any) -> Any:
    """Return a value as JSON has it: only the time of a change has a zone."""
    if isinstance(value, datetime):
        return format_timestamp(value) if name == "changed_at" else value.isoformat()
    return value


def _format_cell(name: str, value: Any) -> str:
    value = _format_value(name, value)
    if value is None:
        return ""
    if isinstance(value, list):
        value = "; ".join(value)
    if isinstance(value, str):
        return neutralize_formula(value)
    # Booleans as true and false, numbers, and objects as JSON: none begins like a formula but a negative number.
    return json.dumps(value, ensure_ascii=False)
