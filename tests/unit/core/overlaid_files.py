"""Rows of one file each, the documents that they would create, and what is left after their overlay."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any, NamedTuple

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import KEYS, TEXTS
from core.exhibit_history import describe_fields
from core.imports.overlay import OVERLAID_COLUMNS, OverlaidDocument, RowOverlay
from core.load_file.rows import Row, parse_row
from tests.unit.core.file_reading import read_file

CLEAR = {"mode": "overlay", "blanks": "clear"}
KEEP = {"mode": "overlay"}
Cells = Mapping[str, str]


class Parsed(NamedTuple):
    """A row of a file, the document that it would create, and how it overlays."""

    cells: list[str]
    document: OverlaidDocument
    overlay: RowOverlay


def parsed(row: Cells, options: dict[str, Any] | None = None) -> Parsed:
    """The only row of a file with these columns."""
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([row.keys(), row.values()])
    reading = read_file(text.getvalue().encode(), {"delimiter": ",", "qualifier": '"', **(options or {})})
    [record] = reading.records
    assert record.cells is not None
    made = parse_row(record, reading.layout)
    assert made.errors == []
    return Parsed(record.cells, _document(made), RowOverlay(reading.layout))


def _document(row: Row) -> OverlaidDocument:
    columns: dict[str, Any] = {field: row.values.get(field) for field in (*KEYS[1:], *TEXTS)}
    columns |= dict(zip(DATE_FIELDS, row.dates.values, strict=True))
    columns |= {"document_date_source": row.dates.source, "date_precision": row.dates.precisions}
    assert columns.keys() == set(OVERLAID_COLUMNS)
    return OverlaidDocument(describe_fields(columns), row.properties)


def overlaid(stored: OverlaidDocument, row: Parsed) -> OverlaidDocument:
    """The document after the overlay."""
    fields = row.overlay.find_fields(row.cells, row.document, stored)
    given, removed = row.overlay.find_properties(row.cells, row.document)
    kept = {name: value for name, value in stored.properties.items() if name not in removed}
    return OverlaidDocument({**stored.fields, **fields}, {**kept, **given})
