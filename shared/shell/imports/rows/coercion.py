"""Coerce the rows of a load file to the columns of the database, one row at a time.

Guaranteed: a key or name is stored unchanged, or its row is rejected; any other text that does not fit its column is
shortened, with a `ValueChange`.
`shell.imports.rows.columnar_rows` is the fast path: it gives the same result for rows without errors or changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from core.cells.keys import show_text
from core.codes import Rejection, WarningCode
from core.exhibit_dates import EVENT_DATES
from core.exhibit_fields import KEYS, TEXTS
from core.load_file.date_columns import RowDates
from core.load_file.field_mapping import get_id_field
from core.load_file.layout import Layout
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import Name, Row, RowError, ValueChange, parse_row
from core.texts.cells import EXTRACTED_TEXT, TextColumns, find_text_columns
from shell.db.column_limits import Limits, column_limits
from shell.utils.data_sanitizer import coerce_text
from shell.utils.document_properties import coerce_properties
from shell.utils.key_validation import key_error

if TYPE_CHECKING:
    from shell.tables.name_kinds import NameKind

# The columns of `exhibits` that an import sets. Versions start at the column's default, 1.
COLUMNS = (
    *("case_id", *KEYS, *TEXTS, "document_date", "document_properties"),
    *(*EVENT_DATES, "document_date_source", "date_precision"),
    *("row_hash", "import_id", "line_no", "line_count"),
)
# The tables of names; the models, and with them SQLAlchemy, are not imported for a preview.
NAME_TABLES = ("custodians", "tags")


def has_line_break(text: str) -> bool:
    """Return whether the text has a line break, with which no other file or system knows it as an id."""
    return "\n" in text or "\r" in text


def build_path_warning(column: str | None) -> ValueChange:
    """Return the warning of a document that has a text in its load file and the path of a text file."""
    message = "The document has a text in its cells and the path of a text file. The file is its text in productions"
    advice = "The cells are stored too; remove the path to produce them."
    return ValueChange(WarningCode.TEXT_AND_PATH, column, f"{message}. {advice}", None)


def has_event_dates(layout: Layout) -> bool:
    """Return whether a column of the file is a date other than the document date."""
    return any(column.field in EVENT_DATES for column in layout.date_columns)


def format_dates(dates: RowDates) -> tuple[str | None, ...]:
    """Return the dates as they are stored, in the order of DATE_FIELDS."""
    return tuple(None if date is None else str(date) for date in dates.values)


def _hash(content: list[Any]) -> bytes:
    return hashlib.sha256(json.dumps(content, default=str).encode()).digest()


class StorableRow(NamedTuple):
    """A row in the form in which the database stores it.

    `row_hash` covers the file's values, before truncation, and not the order of the columns. `earlier_hashes` are what
    versions computed of the same cells that had fewer texts or other dates, or the document date alone; none if that is
    the same.
    `values` are in the order of COLUMNS. They are empty for a rejected row, and where the case already holds all the
    rows that were converted together with the same values.
    """

    source: SourceRecord
    control_number: str | None
    custodians: Sequence[Name] = ()
    tags: Sequence[Name] = ()
    errors: Sequence[RowError] = ()
    changes: Sequence[ValueChange] = ()
    row_hash: bytes = b""
    values: tuple[Any, ...] = ()
    earlier_hashes: tuple[bytes, ...] = ()

    def is_equal(self, stored: bytes | None) -> bool:
        """Return whether a stored row hash says that the exhibit has this row's values."""
        return bool(stored) and stored in (self.row_hash, *self.earlier_hashes)

    def get_names(self, kind: NameKind) -> Sequence[Name]:
        """Return the row's custodians or tags."""
        return self.custodians if kind.table == "custodians" else self.tags


@dataclass
class RowCoercer:
    """A converter of the rows of one import.

    `exhibits` are the limits of that table's columns, `names` those of the custodians' and tags' columns, by table.
    """

    layout: Layout
    case_id: int
    import_id: int
    exhibits: Limits = field(default_factory=lambda: column_limits("exhibits"))
    names: Mapping[str, Limits] = field(default_factory=lambda: {table: column_limits(table) for table in NAME_TABLES})

    def coerce(self, row: Row) -> StorableRow:
        """Return the row as it is stored; adds to the row's errors and changes."""
        self._check_keys(row)
        self._check_names(row, "custodians", row.custodians)
        self._check_names(row, "tags", row.tags)
        if row.errors:
            return StorableRow(row.source, row.control_number, errors=row.errors)
        keys = [row.values.get(key) for key in KEYS[1:]]
        document_date, *dates = format_dates(row.dates)
        digest, earlier = self._compute_hashes(row, document_date, dates)
        if self.earlier:
            earlier += self.earlier.hash_record(row.source)
        texts = [self._coerce_text(row, field_name) for field_name in TEXTS]
        self._warn_of_path(row)
        content = [row.control_number, *keys, *texts, document_date, self._coerce_properties(row)]
        details = (*dates, row.dates.source, row.dates.precisions)
        place = (self.import_id, row.source.line_no, row.source.line_count)
        values = (self.case_id, *content, *details, digest, *place)
        names = (row.custodians, row.tags)
        return StorableRow(row.source, row.control_number, *names, (), row.changes, digest, values, earlier)

    @cached_property
    def earlier(self) -> RowCoercer | None:
        """What converts the rows as versions did that knew fewer names of columns; None if all of them are known."""
        layout = self.layout.earlier
        return replace(self, layout=layout) if layout else None

    def hash_record(self, record: SourceRecord) -> tuple[bytes, ...]:
        """Return the row hash of a record that has no errors, and the earlier ones."""
        row = parse_row(record, self.layout)
        date, *dates = format_dates(row.dates)
        digest, earlier = self._compute_hashes(row, date, dates)
        return digest, *earlier

    def _compute_hashes(
        self, row: Row, date: str | None, dates: Sequence[str | None]
    ) -> tuple[bytes, tuple[bytes, ...]]:
        """Return the row hash and the earlier ones; other dates than the document date are hashed if there are any."""
        later, more = self.layout.later_texts, [dates] if has_event_dates(self.layout) else []
        digest = self._hash_row(row, (), date, more)
        earlier = [self._hash_row(row, later[first:], date, more) for first in reversed(range(len(later)))]
        if self.layout.was_hashed_otherwise:
            earlier.append(self._hash_row(row, later, row.dates.hashed, []))
        if row.dates.before:
            own, *others = [None if each is None else str(each) for each in row.dates.before]
            before = [others] if more else []
            earlier += [self._hash_row(row, later[first:], own, before) for first in reversed(range(len(later) + 1))]
        return digest, tuple(earlier)

    def _hash_row(self, row: Row, later: Sequence[tuple[str, int]], date: object, more: list[Any]) -> bytes:
        """Return the hash by a version that kept `later` as properties."""
        values, properties = dict(row.values), dict(row.properties)
        for field_name, index in later:
            if field_name in values:
                properties[self.layout.names[index]] = values.pop(field_name)
        return _hash([row.control_number, sorted(values.items()), date, sorted(properties.items()), *more])

    def _check_keys(self, row: Row) -> None:
        values = {"control_number": row.control_number, **row.values}
        # By column: a begin Bates that is also the id is one cell and gets one error.
        for column, key in {self._find_column(key): key for key in KEYS if values.get(key)}.items():
            error = key_error(str(values[key]), self.exhibits[key])
            if error:
                row.errors.append(RowError(error[0], column, _name_value(error[1], str(values[key]))))
        if has_line_break(row.control_number or ""):
            advice = "Check the quoting of this row and of the one before, or remove it."
            message = f"The id {show_text(row.control_number or '')} has a line break inside. {advice}"
            row.errors.append(RowError(Rejection.KEY_NOT_STORABLE, self._find_column("control_number"), message))

    def _check_names(self, row: Row, table: str, names: Iterable[Name]) -> None:
        for name in names:
            error = key_error(name.name, self.names[table]["name"])
            if error:
                row.errors.append(RowError(error[0], name.column, _name_value(error[1], name.name)))

    def _coerce_text(self, row: Row, field_name: str) -> str | None:
        value = row.values.get(field_name)
        if value is None:
            return None
        stored, changes = coerce_text(value, self.exhibits[field_name])
        column = self._find_column(field_name)
        row.changes += [
            ValueChange(change.code, column, change.message, value, change.stored_bytes, change.stored)
            for change in changes
        ]
        return stored

    def _coerce_properties(self, row: Row) -> str | None:
        stored, changes = coerce_properties(row.properties, self.exhibits["document_properties"], self.layout.names)
        row.changes += [
            ValueChange(
                *(change.code, change.name, change.message, row.properties.get(change.name)),
                *(change.stored_bytes, change.stored),
            )
            for change in changes
            if change.code is not WarningCode.PROPERTY_DROPPED or change.name not in self._text_names
        ]
        return stored

    @cached_property
    def text_columns(self) -> TextColumns:
        """The columns of the text of documents, which is stored whole, whatever of it fits the properties."""
        return find_text_columns(self.layout.names, self.layout.fields, self.layout.newline)

    @cached_property
    def _text_names(self) -> frozenset[str]:
        return frozenset(self.layout.names[index] for index in self.text_columns.indexes)

    def _warn_of_path(self, row: Row) -> None:
        """Add a warning to a row that has a text and the path of a text file: the file is the document's text."""
        if self.text_columns.has_both(row.source.cells or ()):
            row.changes.append(build_path_warning(self._find_column(EXTRACTED_TEXT)))

    def _find_column(self, field_name: str) -> str | None:
        if field_name == "control_number":
            field_name = get_id_field(self.layout.fields)
        return self.layout.titles.get(field_name) or self.layout.titles.get("family_begin")


def _name_value(message: str, value: str) -> str:
    return f"{message} The value: {show_text(value)}"
