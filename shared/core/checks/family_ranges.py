"""Find the numbers of stated family ranges that no member has, in one pass over the members in order.

The members of a family are the rows that state its range and have a number in it. Memory does not grow with the file:
the families that begin while thousands of others have not ended are left to another pass of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from core.checks.findings import FactNames, Finding, warn
from core.codes import CheckCode

if TYPE_CHECKING:
    from core.checks.bates_entry import BatesEntry

Family = tuple[int, int]


class FamilyRanges:
    """The families that have begun and may go on, each with the member that has the highest number so far.

    `postpone` takes the entries of the families that are left out.
    """

    def __init__(self, names: FactNames, postpone: Callable[[BatesEntry], None], max_open: int) -> None:
        self._names, self._postpone, self._max_open = names, postpone, max_open
        self._open: dict[Family, BatesEntry | None] = {}
        self._ends: list[tuple[int, int]] = []
        # From the first family that is left out to the end of the series, all families that begin are.
        self._full = False

    def add(self, entry: BatesEntry) -> list[Finding]:
        """Add a member, and return what is missing before it; entries of a series come in order of first numbers."""
        first, start, end = entry[2], entry[8], entry[9]
        found: list[Finding] = []
        while self._ends and self._ends[0][0] < first:
            found += self._close()
        if start is None or end is None or first > end or entry[3] < start:
            return found
        family = (start, end)
        if family not in self._open and not self._begin(family):
            self._postpone(entry)
            return found
        highest = self._open[family]
        if first > (start if highest is None else highest[3] + 1):
            missing = start if highest is None else highest[3] + 1
            found.append(self._describe(entry, highest, missing, first - 1, entry))
        if highest is None or entry[3] > highest[3]:
            self._open[family] = entry
        return found

    def _begin(self, family: Family) -> bool:
        self._full = self._full or len(self._open) >= self._max_open
        if not self._full:
            self._open[family] = None
            heappush(self._ends, (family[1], family[0]))
        return not self._full

    def _close(self) -> list[Finding]:
        end, start = heappop(self._ends)
        highest = self._open.pop((start, end))
        if highest is None or highest[3] >= end:
            return []
        return [self._describe(highest, highest, highest[3] + 1, end, None)]

    def end_series(self) -> Iterator[Finding]:
        """Yield what is missing at the ends of the families of a series."""
        while self._ends:
            yield from self._close()
        self._full = False

    def _describe(
        self, at: BatesEntry, before: BatesEntry | None, first: int, last: int, after: BatesEntry | None
    ) -> Finding:
        numbers = at.describe(first) if first == last else f"{at.describe(first)} to {at.describe(last)}"
        family = f"{at.describe(at.family_first or 0)} to {at.describe(at.family_last or 0)}"
        beside = " and ".join(
            f"{side} line {entry.line}" for side, entry in (("after", before), ("before", after)) if entry
        )
        message = (
            f"Line {at.line}: {last - first + 1} missing in the family range {family}: {numbers}, {beside}."
            " No row of the family has these numbers. Look first whether a rejected row has them, then for a document"
            " that is missing or states another family."
        )
        return warn(CheckCode.FAMILY_GAP, at.line, self._names.family_begin, message, at.document)
