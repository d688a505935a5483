"""Find the records of a chunk that have neither errors nor changes, with checks on whole columns.

Guaranteed: no exception of any rule applies to a regular record. Not guaranteed: that every record without errors or
changes is regular. Most checks reject whatever could be irregular.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from core.cells.keys import has_order_mark, is_odd_key, is_odd_name, may_be_odd
from core.exhibit_fields import KEYS, TEXTS
from core.load_file.encoding import REPLACEMENT
from core.load_file.field_mapping import ORIGINAL_LINE, get_id_field, is_path_column
from core.load_file.given_columns import MULTI_COLUMN_FIELDS, NAME_FIELDS
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.layout import Layout
from core.load_file.original_lines import is_line_cell
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import MAX_NAMES
from shell.imports.rows.coercion import RowCoercer, has_line_break
from shell.imports.rows.date_values import DateValues, Known
from shell.utils.document_properties import NIL, TEXT_COLUMN_BYTES

Column = Sequence[str]
# A byte of the file grows to at most 7 stored bytes: a control character takes six in JSON, and the YAML form doubles
# its backslash where it needs double quotes. A name and its cell are enclosed by at most 10 more bytes.
_GROWTH, _ENCLOSING_BYTES = 7, 10


class RegularRecords:
    """The records without errors and changes, in file order, to which no exception of a rule applies.

    `columns` are their cells by column, `dates` their dates.
    """

    def __init__(self, records: Sequence[SourceRecord], coercer: RowCoercer) -> None:
        self.coercer, self.layout = coercer, coercer.layout
        limits = [*coercer.exhibits.values(), *(columns["name"] for columns in coercer.names.values())]
        self._stores_four_bytes = all(limit.takes_four_bytes for limit in limits)
        storable_header = self._is_storable("".join(self.layout.names))
        fits = self.layout.grammar.has_expected_cells
        well_formed = [record for record in records if record.cells is not None and fits(record.cells)]
        self.records = well_formed if storable_header else []
        self.columns = transpose(self.records, self.layout)
        known: dict[str, Known] = {}
        self.dates = DateValues(self.layout, self.columns, known)
        irregular = set(self._find_irregular())
        if irregular:
            self.records = [record for index, record in enumerate(self.records) if index not in irregular]
            self.columns = transpose(self.records, self.layout)
            self.dates = DateValues(self.layout, self.columns, known)

    def _find_irregular(self) -> Iterator[int]:
        names = self.layout.names
        room = self.coercer.exhibits["document_properties"].bytes or TEXT_COLUMN_BYTES
        most = (room - _GROWTH * len("".join(names).encode())) // _GROWTH - _ENCLOSING_BYTES * len(names)
        yield from _indexes(self.records, lambda record: record.byte_len > most)
        yield from self._find_blank_parents()
        if self.coercer.text_columns.indexes and self.coercer.text_columns.path is not None:
            yield from _indexes(self.records, lambda record: self.coercer.text_columns.has_both(record.cells or ()))
        yield from self.dates.problems
        for name, field, column in zip(names, self.layout.fields, self.columns, strict=False):
            text = "".join(column)
            yield from self._find_irregular_text(column, text)
            is_path = is_path_column(name, field)
            # A property with a path is kept as it is written.
            if field or not is_path:
                yield from self._find_irregular_marks(column, text, is_path=is_path)
            yield from self._find_irregular_of_field(field, column, text)

    def _find_blank_parents(self) -> Iterator[int]:
        """Yield the indexes of rows whose blank parent may be the first document of their family."""
        fields = ("parent_control_number", "family_begin", "bates_begin")
        found = [self.columns[index] for field in fields for index in self.layout.find_columns(field)]
        if len(found) == len(fields):
            cells = zip(*found, strict=True)
            yield from (
                index for index, (parent, first, own) in enumerate(cells) if not parent and first not in ("", own)
            )

    def _find_irregular_text(self, column: Column, text: str) -> Iterator[int]:
        if REPLACEMENT in text:
            yield from _indexes(column, lambda cell: REPLACEMENT in cell)
        if NIL in text:
            yield from _indexes(column, lambda cell: cell == NIL)
        if not self._is_storable(text):
            yield from _indexes(column, lambda cell: not self._is_storable(cell))

    def _find_irregular_marks(self, column: Column, text: str, *, is_path: bool) -> Iterator[int]:
        mark = self.layout.newline
        if mark is not None and mark in text:
            lines = [record.line_count for record in self.records]
            yield from (index for index, cell in enumerate(column) if mark in cell and (is_path or lines[index] > 1))

    def _is_storable(self, text: str) -> bool:
        """Return whether the text has no surrogates and only characters of the columns' character set."""
        if text.isascii():
            return True
        try:
            units = len(text.encode("utf-16-le")) // 2
        except UnicodeEncodeError:
            return False
        return self._stores_four_bytes or units == len(text)

    def _find_irregular_of_field(self, field: str | None, column: Column, text: str) -> Iterator[int]:
        if field in KEYS or field in TEXTS:
            yield from self._find_too_long(column, str(field))
        yield from self._find_odd(field, column, text)
        if field in KEYS and any(map(text.__contains__, ASCII_WHITESPACE)):
            yield from _indexes(column, lambda cell: cell != cell.strip(ASCII_WHITESPACE))
        if field == get_id_field(self.layout.fields) and ("" in column or has_line_break(text)):
            yield from _indexes(column, lambda cell: not cell or has_line_break(cell))
        if field in NAME_FIELDS and _longest(column) > self._most_characters(str(field)):
            yield from _indexes_of(column, {cell for cell in set(column) if self._has_irregular_name(str(field), cell)})
        if field == "family_begin":
            yield from self._find_too_long(column, "parent_control_number")
        if field == ORIGINAL_LINE:
            yield from _indexes(column, lambda cell: not is_line_cell(cell))

    def _find_odd(self, field: str | None, column: Column, text: str) -> Iterator[int]:
        """Yield the indexes of keys and names with odd characters, and of keys as spreadsheets write them."""
        if not self.layout.judges_keys:
            return
        if (field in KEYS or field == "family_begin") and may_be_odd(text):
            yield from _indexes(column, is_odd_key)
        elif field in MULTI_COLUMN_FIELDS and not (text.isascii() and text.isprintable()):
            yield from _indexes_of(column, {cell for cell in set(column) if is_odd_name(cell)})
        elif field == "file_name" and has_order_mark(text):
            yield from _indexes(column, has_order_mark)

    def _find_too_long(self, column: Column, field: str) -> Iterator[int]:
        """Yield the indexes of cells that may be too long for the field's column."""
        limit = self.coercer.exhibits[field]
        most = limit.characters if limit.characters is not None else (limit.bytes or 0) // 4
        if _longest(column) > most:
            yield from _indexes(column, lambda cell: len(cell) > most)

    def _has_irregular_name(self, field: str, cell: str) -> bool:
        signs = self.layout.lists
        cell = signs.replace_newlines(cell, self.layout.newline)
        # Counted before they are split: a cell of a million values takes no memory.
        if signs.count(cell) > MAX_NAMES:
            return True
        values = [*signs.split(cell, has_levels=field == "tags")]
        return _longest(values) > (self.coercer.names[field]["name"].characters or 0)

    def _most_characters(self, field: str) -> int:
        """Return a number of characters in which neither a name is too long nor are there too many."""
        return min(self.coercer.names[field]["name"].characters or 0, MAX_NAMES - 1)


def transpose(records: Sequence[SourceRecord], layout: Layout) -> Sequence[Column]:
    """Return the records' cells by column."""
    rows: list[Sequence[str]] = [record.cells or () for record in records]
    if layout.grammar.spare_cell:
        # A row may end with one delimiter more than the others.
        rows = [row[: len(layout.names)] for row in rows]
    return list(zip(*rows, strict=True)) or [() for _ in layout.names]


def _longest(column: Column) -> int:
    return max(map(len, column), default=0)


def _indexes(column: Sequence[Any], is_irregular: Callable[[Any], bool]) -> Iterator[int]:
    return (index for index, cell in enumerate(column) if is_irregular(cell))


def _indexes_of(column: Column, cells: set[str]) -> Iterator[int]:
    return _indexes(column, cells.__contains__) if cells else iter(())
