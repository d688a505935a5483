"""What a record is made of, for whoever reads records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

MAX_RECORD_BYTES = 16_000_000
MAX_CELL_CHARACTERS = 2**31 - 1
ASCII_WHITESPACE = " \t\n\r\x0b\x0c"
# A record over several lines that closes, but with more surplus cells than these, has swallowed its neighbours.
SURPLUS_CELLS = 16


@dataclass(frozen=True)
class Grammar:
    """How records are written: delimiter, qualifier (None: there is none), number of cells (0: not known yet).

    `spare_cell`: lines may end with one delimiter more than the cells need. `quoted_start`: records begin with the
    qualifier.
    """

    delimiter: str
    qualifier: str | None
    cells: int
    spare_cell: bool = False
    quoted_start: bool = False

    def fits(self, cells: list[str]) -> bool:
        """Whether a record has the right number of cells.

        Where lines end with a delimiter more, one with the right number of which the last is blank may as well lack
        a cell in the middle: it does not fit.
        """
        if self.spare_cell and cells and not cells[-1]:
            return len(cells) == self.cells + 1
        return len(cells) == self.cells

    def swallowed(self, cells: list[str], lines: int) -> bool:
        """Whether a record of so many lines has so many surplus cells that it must have swallowed its neighbours."""
        return lines > 1 and self.cells > 0 and len(cells) > self.cells + SURPLUS_CELLS


class Record(NamedTuple):
    """A record: its first line (index into the lines read), its number of lines, its cells.

    `cells` is None where the quoting is damaged.
    """

    first: int
    lines: int
    cells: list[str] | None


@dataclass
class Reading:
    """Where reading stopped: the index of the first line that no record was made of."""

    consumed: int = 0
