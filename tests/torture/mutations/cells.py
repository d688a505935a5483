"""Every cell that a damaged file brought in can be rebuilt: nothing was altered silently, whatever the bytes were."""

from __future__ import annotations

from collections.abc import Sequence

from core.load_file.layout import Layout
from core.load_file.record_reader import SourceRecord
from samples.columns import Column, Role
from samples.oracle import Truth, is_wide
from tests.support.application.driver import World
from tests.support.imports.rebuilt_rows import FIELDS, rebuilt_rows
from tests.torture.mutations.records import demand

_ROLES = {field: role for role, field in FIELDS.items()} | {
    "document_date": Role.DOCUMENT_DATE,
    "custodians": Role.CUSTODIAN,
    "tags": Role.TAGS,
}


def check_cells(world: World, import_id: int, data: bytes, layout: Layout, records: Sequence[SourceRecord]) -> None:
    """The exhibits say what the records say, cell by cell; but in columns whose names a column cannot hold."""
    rebuilt = rebuilt_rows(world, import_id, _as_read(layout), data)
    for record in records:
        if record.line_no in rebuilt:
            _check_row(record, rebuilt[record.line_no], layout)


def _check_row(record: SourceRecord, rebuilt: Sequence[str], layout: Layout) -> None:
    for name, cell, found in zip(layout.names, record.cells or (), rebuilt, strict=False):
        if not is_wide(name):
            demand(cell == found, f"line {record.line_no}, column {name!r}: {cell!r} is stored as {found!r}")


def _as_read(layout: Layout) -> Truth:
    """What rebuilding asks of a file's truth, as the file was read."""
    columns = tuple(
        Column(index, _ROLES.get(field or "", Role.PROPERTY), name)
        for index, (name, field) in enumerate(zip(layout.names, layout.fields, strict=True))
    )
    return Truth(
        records=(),
        encoding=layout.encoding,
        delimiter=layout.grammar.delimiter,
        qualifier=layout.grammar.qualifier or "",
        newline="\n",
        newline_mark=layout.newline or "",
        columns=columns,
        has_header=True,
        header_len=layout.body_start,
        date_order=layout.date_order,
        file_warnings=(),
    )
