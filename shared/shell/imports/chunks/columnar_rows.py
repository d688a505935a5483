"""The columnar fast path: convert the regular records of a chunk to rows, one column at a time.

Guaranteed: each row equals, value for value, what `core.load_file.rows.parse_row` and `coercion.RowCoercer` make of its
record, and has no errors and no changes. A test compares the two paths.
Not guaranteed: that every record without errors or changes takes this path. Most checks are on whole columns and
reject whatever could be irregular; those records take the path of `RowCoercer`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import repeat
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from core.load_file.chunk_reader import SourceRecord
from core.load_file.dates import is_zero_date, parse_date
from core.load_file.encoding import REPLACEMENT
from core.load_file.field_mapping import MULTI_COLUMN_FIELDS, ORIGINAL_LINE, get_id_field, is_path_column
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.layout import Layout
from core.load_file.original_lines import is_line_cell
from core.load_file.rows import KEYS, MAX_NAMES, MULTI_VALUE_SEPARATOR, TEXTS, Name, separate_values, split_names
from shell.imports.chunks.coercion import RowCoercer, StorableRow, has_line_break
from shell.utils.document_properties import NIL, TEXT_COLUMN_BYTES, format_document

Column = Sequence[str]
# A byte of the file grows to at most 7 stored bytes: a control character takes six in JSON, and the YAML form doubles
# its backslash where it needs double quotes. A name and its cell are enclosed by at most 10 more bytes.
_GROWTH, _ENCLOSING_BYTES = 7, 10
# Fields whose cells are kept in the properties as written.
_VERBATIM = frozenset({*MULTI_COLUMN_FIELDS, "document_date"})
_NO_PROPERTIES = frozenset({*KEYS, *TEXTS, ORIGINAL_LINE})


def columnar_rows(
    records: Sequence[SourceRecord], coercer: RowCoercer, excluded_lines: Container[int] = ()
) -> tuple[ColumnarRows, list[SourceRecord]]:
    """Split a chunk's records into regular ones, as columnar rows, and the others, both in file order.

    Records at `excluded_lines` count as irregular.
    """
    regular = RegularRecords([record for record in records if record.line_no not in excluded_lines], coercer)
    lines = {record.line_no for record in regular.records}
    others = [record for record in records if record.line_no not in lines] if len(lines) < len(records) else []
    return ColumnarRows(regular), others


class RegularRecords:
    """The records without errors and changes, in file order, to which no exception of a rule applies.

    `columns` are their cells by column, `dates` the parsed cells of the date column.
    """

    def __init__(self, records: Sequence[SourceRecord], coercer: RowCoercer) -> None:
        self.coercer, self.layout = coercer, coercer.layout
        self.dates: dict[str, datetime | None] = {}
        limits = [*coercer.exhibits.values(), *(columns["name"] for columns in coercer.names.values())]
        self._stores_four_bytes = all(limit.takes_four_bytes for limit in limits)
        storable_header = self._is_storable("".join(self.layout.names))
        fits = self.layout.grammar.has_expected_cells
        well_formed = [record for record in records if record.cells is not None and fits(record.cells)]
        self.records = well_formed if storable_header else []
        self.columns = transpose(self.records, self.layout)
        irregular = set(self._find_irregular())
        if irregular:
            self.records = [record for index, record in enumerate(self.records) if index not in irregular]
            self.columns = transpose(self.records, self.layout)

    def _find_irregular(self) -> Iterator[int]:
        names = self.layout.names
        room = self.coercer.exhibits["document_properties"].bytes or TEXT_COLUMN_BYTES
        most = (room - _GROWTH * len("".join(names).encode())) // _GROWTH - _ENCLOSING_BYTES * len(names)
        yield from _indexes(self.records, lambda record: record.byte_len > most)
        yield from self._find_blank_parents()
        for name, field, column in zip(names, self.layout.fields, self.columns, strict=False):
            yield from self._find_irregular_text(column)
            is_path = is_path_column(name, field)
            # A property with a path is kept as it is written.
            if field or not is_path:
                yield from self._find_irregular_marks(column, is_path=is_path)
            yield from self._find_irregular_of_field(field, column)

    def _find_blank_parents(self) -> Iterator[int]:
        """Yield the indexes of rows whose blank parent may be the first document of their family."""
        fields = ("parent_control_number", "family_begin", "bates_begin")
        found = [self.columns[index] for field in fields for index in self.layout.find_columns(field)]
        if len(found) == len(fields):
            cells = zip(*found, strict=True)
            yield from (
                index for index, (parent, first, own) in enumerate(cells) if not parent and first not in ("", own)
            )

    def _find_irregular_text(self, column: Column) -> Iterator[int]:
        text = "".join(column)
        if REPLACEMENT in text:
            yield from _indexes(column, lambda cell: REPLACEMENT in cell)
        if NIL in text:
            yield from _indexes(column, lambda cell: cell == NIL)
        if not self._is_storable(text):
            yield from _indexes(column, lambda cell: not self._is_storable(cell))

    def _find_irregular_marks(self, column: Column, *, is_path: bool) -> Iterator[int]:
        mark = self.layout.newline
        if mark is not None and mark in "".join(column):
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

    def _find_irregular_of_field(self, field: str | None, column: Column) -> Iterator[int]:
        if field in KEYS or field in TEXTS:
            yield from self._find_too_long(column, str(field))
        if field in KEYS and strip_cells(column) != list(column):
            yield from _indexes(column, lambda cell: cell != cell.strip(ASCII_WHITESPACE))
        if field == get_id_field(self.layout.fields) and ("" in column or has_line_break("".join(column))):
            yield from _indexes(column, lambda cell: not cell or has_line_break(cell))
        if field in MULTI_COLUMN_FIELDS:
            yield from _indexes_of(column, {cell for cell in set(column) if self._has_irregular_name(str(field), cell)})
        if field == "document_date":
            yield from _indexes_of(column, self._parse_dates(column))
        if field == "family_begin":
            yield from self._find_too_long(column, "parent_control_number")
        if field == ORIGINAL_LINE:
            yield from _indexes(column, lambda cell: not is_line_cell(cell))

    def _find_too_long(self, column: Column, field: str) -> Iterator[int]:
        """Yield the indexes of cells that may be too long for the field's column."""
        limit = self.coercer.exhibits[field]
        most = limit.characters if limit.characters is not None else (limit.bytes or 0) // 4
        if max(map(len, column), default=0) > most:
            yield from _indexes(column, lambda cell: len(cell) > most)

    def _parse_dates(self, column: Column) -> set[str]:
        """Parse the date column; return its cells that are neither a date, nor blank, nor a zero date."""
        order = self.layout.date_order
        self.dates = {cell: parse_date(cell, order) for cell in set(column)}
        undated = {cell: cell.strip() for cell, date in self.dates.items() if date is None}
        return {cell for cell, text in undated.items() if text and not is_zero_date(text)}

    def _has_irregular_name(self, field: str, cell: str) -> bool:
        cell = separate_values(cell, self.layout.newline)
        # Counted before they are split: a cell of a million values takes no memory.
        if cell.count(MULTI_VALUE_SEPARATOR) >= MAX_NAMES:
            return True
        most = self.coercer.names[field]["name"].characters or 0
        return max(map(len, cell.split(MULTI_VALUE_SEPARATOR))) > most


class ColumnarRows:
    """Regular records as columns; `numbers` are their control numbers, `hashes` their row hashes."""

    def __init__(self, regular: RegularRecords) -> None:
        self._records, self._coercer, self._layout = regular.records, regular.coercer, regular.layout
        self._columns = regular.columns
        self._keys = {field: strip_cells(column) for field, _, column in self._fields() if field in KEYS}
        self._texts = {field: self._with_newlines(column) for field, _, column in self._fields() if field in TEXTS}
        dates = next((column for field, _, column in self._fields() if field == "document_date"), ())
        self._dates = [regular.dates[cell] for cell in dates]
        self._properties = [
            (name, column if field in _VERBATIM or is_path_column(name, field) else self._with_newlines(column))
            for field, name, column in self._fields()
            if field not in _NO_PROPERTIES
        ]
        self.numbers = self._keys.get(get_id_field(self._layout.fields), ())
        self._resolve_family()
        self.hashes = self._compute_hashes()

    def build_rows(self, *, with_values: bool) -> Iterator[StorableRow]:
        """Yield the rows in the order of the records, without `values` if they are not needed."""
        return map(
            StorableRow,
            *(self._records, self.numbers, self._names("custodians"), self._names("tags"), repeat(()), repeat(())),
            *(self.hashes, self._values() if with_values else repeat(())),
        )

    def _fields(self) -> Iterator[tuple[str | None, str, Column]]:
        return zip(self._layout.fields, self._layout.names, self._columns, strict=False)

    def _with_newlines(self, column: Column) -> Column:
        mark = self._layout.newline
        if mark is None or mark not in "".join(column):
            return column
        return [cell.replace(mark, "\n") for cell in column]

    def _resolve_family(self) -> None:
        """Set the parents from the family's first document, by the rule of `core.load_file.rows`.

        Where there is a column of parents, the rows to which the rule applies are not regular.
        """
        own = self._keys.get("bates_begin")
        if own is None or "parent_control_number" in self._layout.fields:
            return
        for index in self._layout.find_columns("family_begin"):
            cells = zip(strip_cells(self._columns[index]), own, self.numbers, strict=True)
            self._keys["parent_control_number"] = [
                first if first != begin == number else "" for first, begin, number in cells
            ]

    def _names(self, field: str) -> Iterable[Sequence[Name]]:
        columns = [(name, column) for column_field, name, column in self._fields() if column_field == field]
        rows = list(zip(*(column for _, column in columns), strict=True)) or [()] * len(self._records)
        # Many rows have the same cells: split each combination once.
        titles, mark = [name for name, _ in columns], self._layout.newline
        names = {cells: _split_row_names(titles, cells, mark) for cells in set(rows)}
        return [names[cells] for cells in rows]

    def _compute_hashes(self) -> list[bytes]:
        """Return the SHA-256 digests that `RowCoercer.coerce` computes, from JSON that is encoded by column."""
        values = self._encode_pairs((self._keys | self._texts).items(), excluded="control_number")
        properties = self._encode_pairs(self._properties)
        numbers = map(encode_basestring_ascii, self.numbers)
        dates = [f'"{date}"' if date else "null" for date in self._dates] or repeat("null")
        documents = (
            f"[{number}, [{value}], {date}, [{entry}]]"
            for number, value, date, entry in zip(numbers, values, dates, properties, strict=False)
        )
        return [hashlib.sha256(document.encode()).digest() for document in documents]

    def _encode_pairs(self, columns: Iterable[tuple[str, Column]], excluded: str | None = None) -> list[str]:
        pairs = sorted(((name, column) for name, column in columns if name != excluded), key=lambda pair: pair[0])
        return _join_parts(
            [
                _encode_cells(f"[{encode_basestring_ascii(name)}, ", column, "]", ascii_only=True)
                for name, column in pairs
            ],
            len(self._records),
        )

    def _values(self) -> Iterator[tuple[Any, ...]]:
        keys = [self._or_none(self._keys.get(key)) for key in KEYS[1:]]
        texts = [self._or_none(self._texts.get(text)) for text in TEXTS]
        return zip(
            *(repeat(self._coercer.case_id), self.numbers, *keys, *texts),
            *(self._dates or repeat(None), self._stored_properties(), self.hashes),
            *(repeat(self._coercer.import_id), [record.line_no for record in self._records]),
            [record.line_count for record in self._records],
            strict=False,
        )

    @staticmethod
    def _or_none(column: Column | None) -> Iterable[str | None]:
        return repeat(None) if column is None else [cell or None for cell in column]

    def _stored_properties(self) -> list[str | None]:
        parts = [_encode_cells(f"{encode_basestring(name)}: ", column, "") for name, column in self._properties]
        return [
            format_document("{" + entry + "}") if entry else None for entry in _join_parts(parts, len(self._records))
        ]


def transpose(records: Sequence[SourceRecord], layout: Layout) -> Sequence[Column]:
    """Return the records' cells by column."""
    rows: list[Sequence[str]] = [record.cells or () for record in records]
    if layout.grammar.spare_cell:
        # A row may end with one delimiter more than the others.
        rows = [row[: len(layout.names)] for row in rows]
    return list(zip(*rows, strict=True)) or [() for _ in layout.names]


def strip_cells(column: Column) -> list[str]:
    """Return the cells without surrounding ASCII white space, as keys are stored."""
    return [cell.strip(ASCII_WHITESPACE) for cell in column]


def _indexes(column: Sequence[Any], is_irregular: Callable[[Any], bool]) -> Iterator[int]:
    return (index for index, cell in enumerate(column) if is_irregular(cell))


def _indexes_of(column: Column, cells: set[str]) -> Iterator[int]:
    return _indexes(column, cells.__contains__) if cells else iter(())


def _split_row_names(columns: Sequence[str], cells: Sequence[str], newline: str | None) -> Sequence[Name]:
    """Return the names in one row's cells of these columns."""
    names: list[Name] = []
    for column, cell in zip(columns, cells, strict=True):
        names += split_names(separate_values(cell, newline), column, names)
    return names


def _encode_cells(prefix: str, column: Column, suffix: str, *, ascii_only: bool = False) -> list[str]:
    """Return each cell in JSON between prefix and suffix, and an empty text for a blank cell."""
    encode = encode_basestring_ascii if ascii_only else encode_basestring
    return [f"{prefix}{encode(cell)}{suffix}" if cell else "" for cell in column]


def _join_parts(parts: Sequence[Sequence[str]], rows: int) -> list[str]:
    """Join each row's parts as the items of a JSON array or object."""
    return [", ".join(filter(None, row)) for row in zip(*parts, strict=True)] if parts else [""] * rows
