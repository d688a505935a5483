"""Write the facts of rows to the files that are sorted, and find the faults of single rows on the way."""

from __future__ import annotations

from collections.abc import Sequence

from core.cells.similar_ids import fold_ids
from core.checks.bates import BatesRange, describe_numbers, describe_pages, describe_statement, read_range
from core.checks.bates_sweep import DOCUMENT, FAMILY_MEMBER
from core.checks.facts import CELL_END, RowFacts
from core.checks.families import describe_outside, find_position, is_outside, read_statement
from core.checks.findings import FactNames, Finding
from core.checks.limits import Limits
from shell.imports.checks.bates_lines import format_entry
from shell.imports.checks.row_index import RowIndex
from shell.utils.external_sort import ExternalSort

# Of the lines of one control number: the exhibit of the case, its other ranges, the row of the file, the rows that name
# it as parent.
IN_CASE, CLAIMED, IN_FILE, AS_PARENT = "0", "0c", "1", "2"
MAX_SUFFIXES = 1_000


class SpilledRows:
    """The rows of a file as lines to be sorted: by id, by Bates number, by the hash of the native.

    `suffixes` counts the numbers by suffix, None once there are too many; `has_ends`: a row has an end number.
    """

    def __init__(self, folder: str, names: FactNames, limits: Limits) -> None:
        self._names = names
        self.ids, self.bates, self.natives = (
            ExternalSort(folder, name, limits.lines) for name in ("ids", "bates", "natives")
        )
        self.index = RowIndex(folder)
        self.suffixes: dict[str, int] | None = {}
        self.has_ends = False

    def add(self, rows: Sequence[RowFacts]) -> list[Finding]:
        """Add rows, whose texts are escaped, and return what is wrong within each of them."""
        first, found = self.index.rows + 1, list[Finding]()
        self.index.add([row[0] for row in rows], [row[1] for row in rows])
        self.ids.add(_format_ids(rows, first))
        self.natives.add(_format_natives(rows, first))
        self.bates.add(
            [entry for row in rows if row[2] or row[3] or row[7] for entry in self._format_bates(row, found)]
        )
        return found

    def _format_bates(self, row: RowFacts, found: list[Finding]) -> list[str]:
        """Return the lines of a row by its numbers, and append what is wrong with them to `found`."""
        line, control_number, begin, end, _, _, pages, family_begin, family_end = row
        numbers, codes = read_range(begin, end) if begin or end else (None, ())
        if codes:
            found += describe_numbers(row, codes, self._names)
        elif pages is not None and end and numbers and pages != numbers[3] - numbers[2] + 1:
            found.append(describe_pages(row, numbers, self._names))
        family, faults = read_statement(family_begin, family_end) if family_begin else (None, ())
        if faults:
            found += describe_statement(row, faults, self._names)
        lines: list[str] = []
        if family and (numbers is None or not numbers.is_in(family)):
            lines = self._compare_family(row, numbers, family, found)
        if numbers is not None:
            self._count_suffix(numbers[0])
            if end:
                self.has_ends = True
            own = family if family and family[1] == numbers[1] and family[0] == numbers[0] else None
            lines.append(format_entry(numbers, line, DOCUMENT, control_number, "" if codes else begin, own))
        return lines

    def _compare_family(
        self, row: RowFacts, numbers: BatesRange | None, family: BatesRange, found: list[Finding]
    ) -> list[str]:
        """Compare a row whose Bates numbers are not in its family range; return its line if its id stands for them."""
        position = find_position(numbers, row.control_number, family)
        if is_outside(position, family):
            stated = (row.family_begin, row.family_end)
            found.append(describe_outside(row.line, row.control_number, stated, self._names))
        if position is None or position is numbers:
            return []
        return [format_entry(position, row.line, FAMILY_MEMBER, row.control_number, "", family)]

    def _count_suffix(self, suffix: str) -> None:
        if self.suffixes is not None:
            self.suffixes[suffix] = self.suffixes.get(suffix, 0) + 1
            if len(self.suffixes) > MAX_SUFFIXES:
                self.suffixes = None

    @property
    def suffix(self) -> str:
        """The suffix of most numbers; none if there are more than a thousand suffixes."""
        counts = self.suffixes or {"": 1}
        return min(counts, key=lambda suffix: (-counts[suffix], suffix))

    @property
    def spilled_bytes(self) -> int:
        """The bytes on disk."""
        return sum(lines.spilled_bytes for lines in (self.ids, self.bates, self.natives)) + self.index.spilled_bytes

    def close(self) -> None:
        """Close and delete the files."""
        for each in (self.ids, self.bates, self.natives, self.index):
            each.close()


def _format_ids(rows: Sequence[RowFacts], first: int) -> list[str]:
    """Return a line for each row by its control number, and for each row with a parent by that."""
    e = CELL_END
    folded = fold_ids([row[1] for row in rows])
    lines = [
        f"{key}{e}{row[1]}{e}{IN_FILE}{e}{number}{e}{row[2]}{e}{row[3]}{e}{row[7]}{e}{row[8]}"
        for number, (row, key) in enumerate(zip(rows, folded, strict=True), first)
    ]
    children = [(number, row) for number, row in enumerate(rows, first) if row[4] and row[4] != row[1]]
    parents = fold_ids([row[4] for _, row in children])
    lines += [
        f"{key}{e}{row[4]}{e}{AS_PARENT}{e}{number}{e}{row[2]}{e}{row[3]}{e}{row[7]}{e}{row[8]}"
        for key, (number, row) in zip(parents, children, strict=True)
    ]
    return lines


def _format_natives(rows: Sequence[RowFacts], first: int) -> list[str]:
    """Return a line for each row with a hash by that and by line."""
    e = CELL_END
    return [f"{row[5]}{e}{row[0]:012d}{e}{number}" for number, row in enumerate(rows, first) if row[5]]
