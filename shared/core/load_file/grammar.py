"""The parts of a record, shared by every module that reads records."""

from __future__ import annotations

from dataclasses import dataclass
from operator import methodcaller
from typing import NamedTuple

MAX_RECORD_BYTES = 16_000_000
MAX_CELL_CHARACTERS = 2**31 - 1
ASCII_WHITESPACE = " \t\n\r\x0b\x0c"
# A record of several lines with more surplus cells than this has an unclosed qualifier that spans other records.
SURPLUS_CELLS = 16
_STRIP = methodcaller("strip", ASCII_WHITESPACE)


@dataclass(frozen=True)
class Grammar:
    """How records are written: delimiter, qualifier (None: no qualifier), number of cells (0: not known yet).

    `spare_cell`: lines may end with one more delimiter than the cells need. `quoted_start`: records begin with the
    qualifier. `cr_ends`: a CR alone ends a line, as LF and CRLF do in every file. `skips_blank`: a record without a
    value is not a row, as it was for the versions before that.
    """

    delimiter: str
    qualifier: str | None
    cells: int
    spare_cell: bool = False
    quoted_start: bool = False
    cr_ends: bool = False
    skips_blank: bool = False

    def has_expected_cells(self, cells: list[str]) -> bool:
        """Return whether a record has the expected number of cells.

        If lines may end with a spare delimiter, a record with the expected number of cells and a blank last cell does
        not qualify: it may lack a cell in the middle.
        """
        if self.spare_cell and cells and not cells[-1]:
            return len(cells) == self.cells + 1
        return len(cells) == self.cells

    def is_blank(self, cells: list[str]) -> bool:
        """Return whether a record consists of delimiters and white space, so that it is not a row."""
        return self.skips_blank and not any(map(_STRIP, cells))

    def spans_neighbours(self, cells: list[str], lines: int) -> bool:
        """Return whether a record of this many lines has so many surplus cells that it must span other records."""
        return lines > 1 and self.cells > 0 and len(cells) > self.cells + SURPLUS_CELLS


class Record(NamedTuple):
    """A record: its first line (index into the lines read), its number of lines, its cells.

    `cells` is None if the quoting is damaged.
    """

    first: int
    lines: int
    cells: list[str] | None


@dataclass
class LineCursor:
    """The position of a reader: `consumed` is the index of the first line that is not yet part of a record."""

    consumed: int = 0
