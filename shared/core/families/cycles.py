"""Rows of a file that are each other's parents by what they state, directly or through others: FAMILY_CONFLICT.

Guaranteed: an import and the check before it find the same cycles in the same rows.
Not guaranteed: cycles through documents of other files, through columns of parents (PARENT_CYCLE of a check), or
through groups that are named after no document.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from core.families.kinds import FamilyKind, Stated

# So many rows that name another document and are named are compared, the first of the file.
MOST_ROWS = 100_000
_HEADS = (FamilyKind.BEGIN, FamilyKind.RANGE, FamilyKind.GROUP)


class StatingRow(NamedTuple):
    """A row, the numbers of its document (the second is that of its Bates column), and what it states."""

    line_no: int
    control_number: str
    bates_begin: str | None
    stated: Sequence[Stated]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers by which other rows name the document."""
        return tuple(filter(None, (self.bates_begin, self.control_number)))

    @property
    def named(self) -> list[Stated]:
        """What the row states of other documents than its own."""
        return [each for each in self.stated if each.key is not None and each.key not in self.numbers]


class FamilyCycle(NamedTuple):
    """The control numbers and lines of rows that lead back to the first, and the kind of what that one states."""

    places: Sequence[tuple[str, int]]
    kind: FamilyKind


def find_cycles(rows: Iterable[StatingRow]) -> list[FamilyCycle]:
    """Return the cycles of these rows, which have different lines, each from its first line, in the order of these."""
    by_line = {row.line_no: row for row in sorted(rows, key=lambda row: row.line_no)}
    parents = _find_parents(by_line.values())
    seen: dict[int, int] = {}
    found: list[FamilyCycle] = []
    for start in by_line:
        line = start
        while line in parents and line not in seen:
            seen[line] = start
            line = parents[line][0]
        if line in parents and seen[line] == start:
            first = min(_follow(line, parents))
            places = [(by_line[each].control_number, each) for each in _follow(first, parents)]
            found.append(FamilyCycle(places, parents[first][1]))
    return sorted(found, key=lambda each: each.places[0][1])


def _follow(line: int, parents: Mapping[int, tuple[int, FamilyKind]]) -> Iterator[int]:
    yield line
    following = parents[line][0]
    while following != line:
        yield following
        following = parents[following][0]


def _find_parents(rows: Iterable[StatingRow]) -> dict[int, tuple[int, FamilyKind]]:
    """Return the line of the parent of each row that has one among these, and how it is stated."""
    by_bates, by_number, listed = dict[str, int](), dict[str, int](), dict[str, int]()
    for row in rows:
        by_number.setdefault(row.control_number, row.line_no)
        if row.bates_begin:
            by_bates.setdefault(row.bates_begin, row.line_no)
        for each in row.named:
            if each.kind is FamilyKind.MEMBERS:
                listed.setdefault(str(each.key), row.line_no)
    found: dict[int, tuple[int, FamilyKind]] = {}
    for row in rows:
        heads = [(str(each.key), kind) for kind in _HEADS for each in row.named if each.kind is kind]
        lines = [(by_bates.get(key, by_number.get(key)), kind) for key, kind in heads]
        lines += ((listed.get(number), FamilyKind.MEMBERS) for number in row.numbers)
        for line, kind in lines:
            if line is not None and line != row.line_no:
                found[row.line_no] = line, kind
                break
    return found
