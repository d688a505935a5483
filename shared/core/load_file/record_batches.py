"""Fast path that reads sound records in batches: no object per record and no search for the end of each record.

Guaranteed: the records of a batch are exactly those that `read_records` yields first for the same lines, one directly
after the other, without a blank line between them. If a batch ends before the lines end, `read_records` must read on
from there.
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from core.load_file.encoding import Lines
from core.load_file.grammar import Grammar
from core.load_file.record_reader import strict_reader
from core.load_file.repeated_header import RepeatedHeader

if TYPE_CHECKING:
    from _csv import Reader


class RecordBatch(NamedTuple):
    """The boundaries of the records of a batch, and the cells of the id column and of the date columns.

    Record n consists of the lines [bounds[n], bounds[n + 1]), counted from the first line of the batch. The other lists
    have one element per record with the expected number of cells: its first line, its id, and its date, or the tuple of
    its dates if there are several columns. To keep all cells would take many times the memory of their text and twice
    the time; so would an object per record.
    """

    bounds: list[int]
    first_lines: list[int]
    ids: list[str]
    dates: list[Any]

    def list_dates(self, columns: int) -> Sequence[Sequence[str]]:
        """Return the cells of each of the date columns."""
        if columns == 1:
            return [self.dates]
        return list(zip(*self.dates, strict=True)) or [()] * columns


class LocatedBatch(NamedTuple):
    """A batch and its position in the file: its first line is the physical line `line`.

    `offsets` are the starts of the lines in `raw`, in bytes; `raw` begins at byte `byte_start` of the file.
    """

    batch: RecordBatch
    offsets: list[int]
    byte_start: int
    line: int
    raw: bytes

    @property
    def record_count(self) -> int:
        """The number of records."""
        return len(self.batch.bounds) - 1

    def get_line(self, record: int) -> int:
        """Return the physical line where a record begins; for `record_count`, the line after the last record."""
        return self.line + self.batch.bounds[record]

    def get_byte(self, record: int) -> int:
        """Return the byte of the file where a record begins; for `record_count`, the byte after the last record."""
        return self.byte_start + self.offsets[self.batch.bounds[record]]

    def get_bytes(self, start: int, end: int) -> bytes:
        """Return the bytes of the records [start, end)."""
        return self.raw[self.offsets[self.batch.bounds[start]] : self.offsets[self.batch.bounds[end]]]

    def find_end(self, limit: int, start: int) -> int:
        """Return the end of the records [start, end) that end at or before byte `limit` of the file."""
        local = limit - self.byte_start
        return bisect_right(self.batch.bounds, local, start + 1, key=self.offsets.__getitem__) - 1


def read_batch(
    lines: Lines, grammar: Grammar, columns: tuple[int, ...], repeated: RepeatedHeader | None = None
) -> RecordBatch:
    """Return the records before the first blank line, damaged quoting or unfinished record; possibly none.

    `columns` are the indexes of the id column and of one or more date columns. The batch ends before a record without a
    value, that is a line of a `repeated` header, or that has the id of one. Lines with a CR that is not followed by LF
    give an empty batch, because the csv module takes such a CR for the end of a record; so do lines that begin with a
    byte order mark.
    """
    batch = RecordBatch([0], [], [], [])
    if not lines.bare_cr and not lines.mark:
        with suppress(csv.Error):
            # The records before an error are valid; `read_records` handles the rest.
            _read(batch, strict_reader(iter(lines.texts), grammar), grammar, columns, repeated)
    number = repeated.find_candidate(batch.ids) if repeated else None
    return batch if number is None else _cut_before(batch, number)


def _cut_before(batch: RecordBatch, number: int) -> RecordBatch:
    """Return the records before the one with this number among those with the expected number of cells."""
    bounds, first_lines, ids, dates = batch
    kept = bisect_right(bounds, first_lines[number])
    return RecordBatch(bounds[:kept], first_lines[:number], ids[:number], dates[:number])


def _read(
    batch: RecordBatch, reader: Reader, grammar: Grammar, columns: tuple[int, ...], repeated: RepeatedHeader | None
) -> None:
    (bounds, first_lines, ids, dates), (id_column, *date_columns), first = batch, columns, 0
    get_dates = itemgetter(*date_columns)
    expected, has_expected_cells = grammar.cells, grammar.has_expected_cells if grammar.spare_cell else None
    for cells in reader:
        end = reader.line_num
        if has_expected_cells(cells) if has_expected_cells else len(cells) == expected:
            key = cells[id_column]
            if (not key or key.isspace()) and grammar.is_blank(cells):
                return
            first_lines.append(first)
            ids.append(key)
            dates.append(get_dates(cells))
        elif (
            not cells
            or grammar.is_blank(cells)
            or grammar.spans_neighbours(cells, end - first)
            or (repeated and repeated.matches(cells))
        ):
            return
        bounds.append(end)
        first = end
