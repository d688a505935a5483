"""The columnar fast path: convert the regular records of a chunk to rows, one column at a time.

Guaranteed: each row equals, value for value, what `core.load_file.rows.parse_row` and `coercion.RowCoercer` make of its
record, and has no errors and no changes. A test compares the two paths. Irregular records take the path of
`RowCoercer`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, repeat
from json.encoder import encode_basestring, encode_basestring_ascii
from operator import itemgetter
from typing import Any

from core.exhibit_fields import KEYS, TEXTS
from core.imports.columns.facts import ColumnCells
from core.load_file.field_mapping import ORIGINAL_LINE, get_id_field, is_path_column
from core.load_file.given_columns import NAME_FIELDS
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import Name, split_names
from core.row_texts import Part, join_rows
from shell.imports.rows.coercion import RowCoercer, StorableRow
from shell.imports.rows.regular_records import Column, RegularRecords
from shell.utils.document_properties import format_document

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


class ColumnarRows:
    """Regular records as columns.

    `numbers` are their control numbers, `hashes` their row hashes, `earlier_hashes` those of `StorableRow`.
    """

    def __init__(self, regular: RegularRecords) -> None:
        self._records, self._coercer, self._layout = regular.records, regular.coercer, regular.layout
        self._columns = regular.columns
        self._keys = {field: column for field, _, column in self._fields() if field in KEYS}
        self._texts = {field: self._with_newlines(column) for field, _, column in self._fields() if field in TEXTS}
        self._dates = regular.dates
        self._properties = [
            (name, column if self._is_verbatim(index, field, name) else self._with_newlines(column))
            for index, (field, name, column) in enumerate(self._fields())
            if field not in _NO_PROPERTIES
        ]
        self.numbers = self._keys.get(get_id_field(self._layout.fields), ())
        self._resolve_family()
        self.hashes, self._own_earlier = self._compute_hashes()

    def list_cells(self) -> ColumnCells:
        """Return the records by column, with the notes of their dates."""
        return ColumnCells([record.line_no for record in self._records], self._columns, self._dates.notes)

    @cached_property
    def earlier_hashes(self) -> Iterable[tuple[bytes, ...]]:
        """The earlier row hashes of each row."""
        coercer = self._coercer.earlier
        if coercer is None or not self._records:
            return self._own_earlier
        columnar, others = columnar_rows(self._records, coercer)
        found = {row.source.line_no: (row.row_hash, *row.earlier_hashes) for row in columnar.build_hashes()}
        found |= {record.line_no: coercer.hash_record(record) for record in others}
        hashes = [found[record.line_no] for record in self._records]
        return [(*own, *more) for own, more in zip(self._own_earlier, hashes, strict=False)]

    def build_hashes(self) -> Iterator[StorableRow]:
        """Yield the rows with their hashes alone."""
        return self.build_rows(with_values=False, with_properties=False)

    def build_rows(
        self, *, with_values: bool, with_properties: bool, with_earlier: bool = True
    ) -> Iterator[StorableRow]:
        """Yield the rows in the order of the records, without `values`, properties or earlier hashes if not needed."""
        earlier = self.earlier_hashes if with_earlier else repeat(())
        return map(
            StorableRow,
            *(self._records, self.numbers, self._names("custodians"), self._names("tags"), repeat(()), repeat(())),
            *(self.hashes, self._values(with_properties) if with_values else repeat(()), earlier),
        )

    def _fields(self) -> Iterator[tuple[str | None, str, Column]]:
        return zip(self._layout.fields, self._layout.names, self._columns, strict=False)

    def _is_verbatim(self, index: int, field: str | None, name: str) -> bool:
        return field in NAME_FIELDS or index == self._layout.first_date or is_path_column(name, field)

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
            cells = zip((cell.strip(ASCII_WHITESPACE) for cell in self._columns[index]), own, self.numbers, strict=True)
            self._keys["parent_control_number"] = [
                first if first != begin == number else "" for first, begin, number in cells
            ]

    def _names(self, field: str) -> Iterable[Sequence[Name]]:
        columns = [(name, column) for column_field, name, column in self._fields() if column_field == field]
        rows = list(zip(*(column for _, column in columns), strict=True)) or [()] * len(self._records)
        # Many rows have the same cells: split each combination once.
        titles = [name for name, _ in columns]
        names = {cells: self._split_row_names(field, titles, cells) for cells in set(rows)}
        return [names[cells] for cells in rows]

    def _split_row_names(self, field: str, columns: Sequence[str], cells: Sequence[str]) -> Sequence[Name]:
        """Return the names in one row's cells of these columns."""
        names: list[Name] = []
        signs, mark = self._layout.lists, self._layout.newline
        for column, cell in zip(columns, cells, strict=True):
            text = Name(signs.replace_newlines(cell, mark), column)
            names += split_names(signs, text, names, has_levels=field == "tags")
        return names

    def _compute_hashes(self) -> tuple[list[bytes], Iterable[tuple[bytes, ...]]]:
        """Return the SHA-256 digests that `RowCoercer.coerce` computes, from JSON that is encoded by column."""
        later, dates = self._layout.later_texts, self._dates
        versions = [self._encode_content(later[first:]) for first in range(len(later) + 1)]
        own, others = dates.document_json, dates.others_json
        hashes, *earlier = [self._hash_version(each, own, others) for each in reversed(versions)]
        if self._layout.was_hashed_otherwise:
            earlier.append(self._hash_version(versions[0], dates.hashed_json, []))
        if not dates.changed:
            return hashes, list(zip(*earlier, strict=True)) if earlier else repeat(())
        before = [self._hash_version(each, *dates.before_json) for each in reversed(versions)]
        usual, more = zip(*earlier, strict=True) if earlier else repeat(()), zip(*before, strict=True)
        return hashes, [
            (*own, *other) if index in dates.changed else tuple(own)
            for index, (own, other) in enumerate(zip(usual, more, strict=False))
        ]

    def _hash_version(self, content: tuple[list[Part], list[Part]], own: Part, others: Sequence[Part]) -> list[bytes]:
        return self._hash_rows([*content[0], own, *content[1], *others, "]"])

    def _encode_content(self, later: Sequence[tuple[str, int]]) -> tuple[list[Part], list[Part]]:
        """Return what is hashed before and after the dates by a version that kept `later` as properties."""
        fields = {"control_number", *(field for field, _ in later)}
        others = {field: column for field, column in (self._keys | self._texts).items() if field not in fields}
        properties = [*self._properties, *((self._layout.names[index], self._texts[field]) for field, index in later)]
        before: list[Part] = _encode_cells("[", self.numbers, ", [", encode_basestring_ascii)
        before += [self._join_pairs(sorted(others.items())), "], "]
        after: list[Part] = [", [", self._join_pairs(sorted(properties, key=itemgetter(0))), "]"]
        return before, after

    def _hash_rows(self, parts: Sequence[Part]) -> list[bytes]:
        return [hashlib.sha256(text.encode()).digest() for text in join_rows(parts, len(self._records))]

    def _join_pairs(self, columns: Iterable[tuple[str, Column]]) -> list[str]:
        """Return each row's names and cells as the items of a JSON array of pairs, without blank cells."""
        parts = [
            _encode_cells(f"[{encode_basestring_ascii(name)}, ", column, "], ", encode_basestring_ascii)
            for name, column in columns
        ]
        return self._join_items(parts)

    def _join_items(self, parts: Iterable[Sequence[Part]]) -> list[str]:
        """Return each row's items without the separator after the last one."""
        joined = join_rows(chain.from_iterable(parts), len(self._records))
        return [items[:-2] for items in joined]

    def _values(self, with_properties: bool) -> Iterator[tuple[Any, ...]]:
        keys = [self._or_none(self._keys.get(key)) for key in KEYS[1:]]
        texts = [self._or_none(self._texts.get(text)) for text in TEXTS]
        properties = self._stored_properties() if with_properties else repeat(None)
        return zip(
            *(repeat(self._coercer.case_id), self.numbers, *keys, *texts),
            *(self._dates.document, properties, *self._dates.details, self.hashes),
            *(repeat(self._coercer.import_id), [record.line_no for record in self._records]),
            [record.line_count for record in self._records],
            strict=False,
        )

    @staticmethod
    def _or_none(column: Column | None) -> Iterable[str | None]:
        return repeat(None) if column is None else [cell or None for cell in column]

    def _stored_properties(self) -> list[str | None]:
        parts = (
            _encode_cells(f"{encode_basestring(name)}: ", column, ", ", encode_basestring)
            for name, column in self._properties
        )
        return [format_document("{" + items + "}") if items else None for items in self._join_items(parts)]


def _encode_cells(before: str, column: Column, after: str, encode: Callable[[str], str]) -> list[Part]:
    """Return parts that write each cell in JSON between two texts, and nothing for a blank cell."""
    text, cells = "".join(column), column
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        # JSON writes them as they are.
        before, after = f'{before}"', f'"{after}'
    else:
        cells = [cell and encode(cell) for cell in column]
    return [[cell and f"{before}{cell}{after}" for cell in cells]] if "" in column else [before, cells, after]
