"""Records read many at a time, as long as nothing is wrong with them: no object for each, no search for their ends.

Guaranteed: a run's records are exactly those that `read_records` yields first of the same lines, one behind the other
without a blank line between them. Where the run ends for any other reason than that the lines do, `read_records` has
to read on from there.
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from core.load_file.encoding import Lines
from core.load_file.grammar import Grammar
from core.load_file.records import strict_reader

if TYPE_CHECKING:
    from _csv import Reader


class Run(NamedTuple):
    """Record n is made of the lines [bounds[n], bounds[n + 1]), counted from the first.

    Of the records with the right number of cells: `first_lines`, and the cells of two columns. To keep all cells would
    take many times the memory of their text, and twice the time; so would an object for each record.
    """

    bounds: list[int]
    first_lines: list[int]
    ones: list[str]
    others: list[str]


class LocatedRun(NamedTuple):
    """Sound records, tile behind tile, without a blank line between them: those of the lines from `line` on.

    `offsets` are the places of the lines, counted from the place `byte_start`, where `raw` begins.
    """

    run: Run
    offsets: list[int]
    byte_start: int
    line: int
    raw: bytes

    @property
    def records(self) -> int:
        """How many there are."""
        return len(self.run.bounds) - 1

    def line_of(self, record: int) -> int:
        """The line with which a record begins; for the number of records, the one behind the last."""
        return self.line + self.run.bounds[record]

    def place(self, record: int) -> int:
        """Where in the file a record begins; for the number of records, where the last one ends."""
        return self.byte_start + self.offsets[self.run.bounds[record]]

    def tile(self, first: int, behind: int) -> bytes:
        """The bytes of the records [first, behind)."""
        return self.raw[self.offsets[self.run.bounds[first]] : self.offsets[self.run.bounds[behind]]]

    def within(self, place: int, first: int) -> int:
        """The record behind the last one that ends at or before a place in the file, from `first` on."""
        local = place - self.byte_start
        return bisect_right(self.run.bounds, local, first + 1, key=self.offsets.__getitem__) - 1


def read_run(lines: Lines, grammar: Grammar, columns: tuple[int, int]) -> Run:
    """The records up to the first blank line, damaged quoting or record that is not finished; perhaps none.

    Lines with a CR that no LF follows are not read at all: the csv module takes one for a record's end.
    """
    run = Run([0], [], [], [])
    if not lines.bare_cr:
        with suppress(csv.Error):
            # What was read before an error stands; the rest is for who knows damage.
            _read(run, strict_reader(iter(lines.texts), grammar), grammar, columns)
    return run


def _read(run: Run, reader: Reader, grammar: Grammar, columns: tuple[int, int]) -> None:
    (bounds, first_lines, ones, others), (one, other), first = run, columns, 0
    usual, fits = grammar.cells, grammar.fits if grammar.spare_cell else None
    for cells in reader:
        behind = reader.line_num
        if fits(cells) if fits else len(cells) == usual:
            first_lines.append(first)
            ones.append(cells[one])
            others.append(cells[other])
        elif not cells or grammar.swallowed(cells, behind - first):
            return
        bounds.append(behind)
        first = behind
