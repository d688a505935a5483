"""Rows that nothing has to be said about, read and fitted a column at a time.

Guaranteed: a row that comes out of here is, value for value, what `core.rows.parse_row` and `shell.fitting_ops.Fitter`
make of its record. Whatever might be a problem, a loss or an exception to a rule is left to them: a record that is
left out here is not judged, only passed on. A test holds the two ways together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import repeat
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

from core.field_mapping import SEVERAL, id_field
from core.load_file.chunk import SourceRecord
from core.rows import KEYS, TEXTS, Name, names_in
from shell.fitting_ops import FittedRow, Fitter
from shell.plain_records_ops import Column, PlainRecords, stripped
from shell.utils.document_properties import as_scalar


def plain_rows(
    records: Sequence[SourceRecord], fitter: Fitter, but: Container[int] = ()
) -> tuple[PlainRows, list[SourceRecord]]:
    """The plain ones among the records of a chunk, without those of the lines `but`, and the others, in file order."""
    plain = PlainRecords([record for record in records if record.line_no not in but], fitter)
    lines = {record.line_no for record in plain.records}
    others = [record for record in records if record.line_no not in lines] if len(lines) < len(records) else []
    return PlainRows(plain), others


class PlainRows:
    """Rows by column; `numbers` are their control numbers, `hashes` their row hashes."""

    def __init__(self, plain: PlainRecords) -> None:
        self._records, self._fitter, self._layout = plain.records, plain.fitter, plain.layout
        self._columns = plain.columns
        self._keys = {field: stripped(column) for field, _, column in self._fields() if field in KEYS}
        self._texts = {field: self._with_newlines(column) for field, _, column in self._fields() if field in TEXTS}
        dates = next((column for field, _, column in self._fields() if field == "document_date"), ())
        self._dates = [plain.dates[cell] for cell in dates]
        self._properties = [
            (name, column if field in _VERBATIM else self._with_newlines(column))
            for field, name, column in self._fields()
            if field not in KEYS and field not in TEXTS
        ]
        self.numbers = self._keys.get(id_field(self._layout.fields), ())
        self._settle_family()
        self.hashes = self._hashes()

    def fitted(self, *, with_values: bool) -> Iterator[FittedRow]:
        """The rows, in the order of the records."""
        return map(
            FittedRow,
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

    def _settle_family(self) -> None:
        """As `core.rows` does: a family is named by its first document."""
        if "parent_control_number" in self._layout.fields or "control_number" in self._layout.fields:
            return
        families = [self._layout.names[index] for index in self._layout.columns_of("family_begin")]
        for name, column in self._properties:
            if name in families:
                pairs = zip(stripped(column), self.numbers, strict=True)
                self._keys["parent_control_number"] = ["" if first == number else first for first, number in pairs]

    def _names(self, kind: str) -> Iterable[Sequence[Name]]:
        columns = [(name, column) for field, name, column in self._fields() if field == kind]
        rows = list(zip(*(column for _, column in columns), strict=True)) or [()] * len(self._records)
        # Many rows name the same.
        meanings = {cells: _names_in([name for name, _ in columns], cells) for cells in set(rows)}
        return [meanings[cells] for cells in rows]

    def _hashes(self) -> list[bytes]:
        """SHA-256 of what `Fitter.fit` says of the row, put together from parts that are encoded by column."""
        values = self._said((self._keys | self._texts).items(), but="control_number")
        properties = self._said(self._properties)
        numbers = map(encode_basestring_ascii, self.numbers)
        dates = [f'"{date}"' if date else "null" for date in self._dates] or repeat("null")
        said = (
            f"[{number}, [{value}], {date}, [{entry}]]"
            for number, value, date, entry in zip(numbers, values, dates, properties, strict=False)
        )
        return [hashlib.sha256(each.encode()).digest() for each in said]

    def _said(self, columns: Iterable[tuple[str, Column]], but: str | None = None) -> list[str]:
        pairs = sorted(((name, column) for name, column in columns if name != but), key=lambda pair: pair[0])
        return _joined(
            [_parts(f"[{encode_basestring_ascii(name)}, ", column, "]", ascii_only=True) for name, column in pairs],
            len(self._records),
        )

    def _values(self) -> Iterator[tuple[Any, ...]]:
        nothing = repeat(None)
        keys = [self._or_none(self._keys.get(key)) for key in KEYS[1:]]
        texts = [self._or_none(self._texts.get(text)) for text in TEXTS]
        fitter = self._fitter
        return zip(
            *(repeat(fitter.case_id), self.numbers, *keys, *texts, self._dates or nothing, self._stored(), self.hashes),
            *(repeat(fitter.import_id), [record.line_no for record in self._records]),
            [record.line_count for record in self._records],
            strict=False,
        )

    @staticmethod
    def _or_none(column: Column | None) -> Iterable[str | None]:
        return repeat(None) if column is None else [cell or None for cell in column]

    def _stored(self) -> list[str | None]:
        parts = [_parts(f"{encode_basestring(name)}: ", column, "") for name, column in self._properties]
        return [as_scalar("{" + entry + "}") if entry else None for entry in _joined(parts, len(self._records))]


# Columns whose text is kept as it was written.
_VERBATIM = frozenset({*SEVERAL, "document_date"})


def _names_in(columns: Sequence[str], cells: Sequence[str]) -> Sequence[Name]:
    """The names of one row's cells in these columns."""
    names: list[Name] = []
    for column, cell in zip(columns, cells, strict=True):
        names += names_in(cell, column, names)
    return names


def _parts(before: str, column: Column, behind: str, *, ascii_only: bool = False) -> list[str]:
    """Each cell in JSON between the two; blank cells have no part."""
    encode = encode_basestring_ascii if ascii_only else encode_basestring
    return [f"{before}{encode(cell)}{behind}" if cell else "" for cell in column]


def _joined(parts: Sequence[Sequence[str]], rows: int) -> list[str]:
    """Each row's parts, as a JSON array or object separates them."""
    return [", ".join(filter(None, row)) for row in zip(*parts, strict=True)] if parts else [""] * rows
