"""Which records of a chunk are plain: nothing has to be said about them, and no exception to a rule concerns them.

Guaranteed: a record that is called plain has no problem and no loss, and its values fit their columns as they are. That
one is not called so says nothing: what is looked at is a column at a time, and what could be odd is odd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from core.dates import is_zero, parse_date
from core.field_mapping import SEVERAL, id_field
from core.load_file.chunk import SourceRecord
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.layout import Layout
from core.rows import KEYS, MAX_NAMES, MULTI_VALUE_SEPARATOR, TEXTS
from shell.fitting_ops import Fitter
from shell.utils.document_properties import NIL, TEXT_COLUMN_BYTES

Column = Sequence[str]
# A byte of the file becomes at most so many of what is stored: a control character has six in JSON, and YAML doubles
# its backslash where it needs double quotes. So many more stand around a name and its cell.
_GROWTH, _AROUND = 7, 10


class PlainRecords:
    """The plain ones, in file order; `columns` are their cells, `dates` what cells of the date column mean."""

    def __init__(self, records: Sequence[SourceRecord], fitter: Fitter) -> None:
        self.fitter, self.layout = fitter, fitter.layout
        self.dates: dict[str, datetime | None] = {}
        limits = [*fitter.exhibits.values(), *(columns["name"] for columns in fitter.names.values())]
        self._four_bytes = all(limit.takes_four_bytes for limit in limits)
        named = self._can_be_stored("".join(self.layout.names))
        self.records = self._sound(records) if named else []
        self.columns = by_column(self.records, self.layout)
        odd = set(self._odd())
        if odd:
            self.records = [each for index, each in enumerate(self.records) if index not in odd]
            self.columns = by_column(self.records, self.layout)

    def _sound(self, records: Sequence[SourceRecord]) -> Sequence[SourceRecord]:
        fits = self.layout.grammar.fits
        return [each for each in records if each.cells is not None and fits(each.cells)]

    def _odd(self) -> Iterator[int]:
        room = self.fitter.exhibits["document_properties"].bytes or TEXT_COLUMN_BYTES
        most = (room - _GROWTH * len("".join(self.layout.names).encode())) // _GROWTH - _AROUND * len(self.layout.names)
        yield from _where(self.records, lambda each: each.byte_len > most)
        for field, column in zip(self.layout.fields, self.columns, strict=False):
            yield from self._odd_text(column)
            yield from self._odd_of_field(field, column)

    def _odd_text(self, column: Column) -> Iterator[int]:
        text, mark = "".join(column), self.layout.newline
        if NIL in text:
            yield from _where(column, lambda cell: cell == NIL)
        if not self._can_be_stored(text):
            yield from _where(column, lambda cell: not self._can_be_stored(cell))
        if mark is not None and mark in text:
            lines = [record.line_count for record in self.records]
            yield from (index for index, cell in enumerate(column) if lines[index] > 1 and mark in cell)

    def _can_be_stored(self, text: str) -> bool:
        """Whether all of it are characters, of those that the column's character set has."""
        if text.isascii():
            return True
        try:
            units = len(text.encode("utf-16-le")) // 2
        except UnicodeEncodeError:
            return False
        return self._four_bytes or units == len(text)

    def _odd_of_field(self, field: str | None, column: Column) -> Iterator[int]:
        if field in KEYS or field in TEXTS:
            yield from self._longer(column, str(field))
        if field in KEYS and stripped(column) != list(column):
            yield from _where(column, lambda cell: cell != cell.strip(ASCII_WHITESPACE))
        if field == id_field(self.layout.fields) and "" in column:
            yield from _where(column, lambda cell: not cell)
        if field in SEVERAL:
            yield from _among(column, {cell for cell in set(column) if self._has_odd_name(str(field), cell)})
        if field == "document_date":
            yield from _among(column, self._odd_dates(column))
        if field == "family_begin":
            yield from self._longer(column, "parent_control_number")

    def _longer(self, column: Column, field: str) -> Iterator[int]:
        """The cells that may not fit the field's column."""
        limit = self.fitter.exhibits[field]
        most = limit.characters if limit.characters is not None else (limit.bytes or 0) // 4
        if max(map(len, column), default=0) > most:
            yield from _where(column, lambda cell: len(cell) > most)

    def _odd_dates(self, column: Column) -> set[str]:
        """Cells that give no date and say something all the same."""
        order = self.layout.date_order
        self.dates = {cell: parse_date(cell, order) for cell in set(column)}
        said = {cell: cell.strip() for cell, date in self.dates.items() if date is None}
        return {cell for cell, text in said.items() if text and not is_zero(text)}

    def _has_odd_name(self, kind: str, cell: str) -> bool:
        values = cell.split(MULTI_VALUE_SEPARATOR)
        most = self.fitter.names[kind]["name"].characters or 0
        return len(values) > MAX_NAMES or max(map(len, values)) > most


def by_column(records: Sequence[SourceRecord], layout: Layout) -> Sequence[Column]:
    """The records' cells by column."""
    rows: list[Sequence[str]] = [record.cells or () for record in records]
    if layout.grammar.spare_cell:
        # A row may end with one delimiter more than the others.
        rows = [row[: len(layout.names)] for row in rows]
    return list(zip(*rows, strict=True)) or [() for _ in layout.names]


def stripped(column: Column) -> list[str]:
    """The cells as keys are trimmed."""
    return [cell.strip(ASCII_WHITESPACE) for cell in column]


def _where(column: Sequence[Any], is_odd: Callable[[Any], bool]) -> Iterator[int]:
    return (index for index, cell in enumerate(column) if is_odd(cell))


def _among(column: Column, odd: set[str]) -> Iterator[int]:
    return _where(column, odd.__contains__) if odd else iter(())
