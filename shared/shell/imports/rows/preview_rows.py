"""Convert the rows of a preview as a chunk converts them, to values by field and by column.

Guaranteed: the values are those of `RowCoercer`. No module that opens a database is imported, so that the command can
preview a file without one.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_fields import KEYS, TEXTS
from core.imports.preview import Convert, ConvertedRow
from core.load_file.header_names import TIME_FIELDS
from core.load_file.layout import Layout
from core.load_file.rows import Name, Row
from shell.db.column_limits import Limits
from shell.imports.rows.coercion import COLUMNS, NAME_TABLES, RowCoercer
from shell.utils.document_properties import parse_properties

_FIELDS = (*KEYS, *TEXTS, *DATE_FIELDS)


def make_converter(limits: Callable[[str], Limits]) -> Callable[[Layout], Convert]:
    """Return what `build_preview` needs; `limits` returns the limits of a table's columns."""

    def make_convert(layout: Layout) -> Convert:
        names = {table: limits(table) for table in NAME_TABLES}
        coercer = RowCoercer(layout, case_id=0, import_id=0, exhibits=limits("exhibits"), names=names)
        return lambda row: _convert(coercer, row)

    return make_convert


def _convert(coercer: RowCoercer, row: Row) -> ConvertedRow:
    stored = coercer.coerce(row)
    if stored.errors:
        return ConvertedRow(codes=[(error.column, error.code.value) for error in stored.errors])
    columns: Mapping[str, str | None] = dict(zip(COLUMNS, stored.values, strict=True))
    document = columns["document_properties"]
    values = {"control_number": stored.control_number, **{name: columns[name] for name in _FIELDS[1:]}}
    codes = [(change.column, change.code.value) for change in stored.changes]
    values |= _list_times(coercer.layout, columns, {column for column, _ in codes})
    names = _group_names([*stored.custodians, *stored.tags])
    properties = parse_properties(document) if document else {}
    return ConvertedRow(values, names, {**_list_texts(coercer, row), **properties}, codes)


def _list_texts(coercer: RowCoercer, row: Row) -> dict[str, str]:
    """Return the cells of texts by column, which are stored whole, also those that are no properties."""
    names = (coercer.layout.names[index] for index in coercer.text_columns.indexes)
    return {name: row.properties[name] for name in names if name in row.properties}


def _list_times(
    layout: Layout, columns: Mapping[str, str | None], changed: Container[str | None]
) -> dict[str, str | None]:
    """Return the dates of the columns of times, by their fields, without those whose time could not be read."""
    with_times = [column for column in layout.date_columns if column.time is not None]
    return {
        TIME_FIELDS[each.field]: columns[each.field]
        for each in with_times
        if layout.names[each.time or 0] not in changed
    }


def _group_names(names: list[Name]) -> dict[str, list[str]]:
    by_column: dict[str, list[str]] = {}
    for name in names:
        by_column.setdefault(name.column, []).append(name.name)
    return by_column
