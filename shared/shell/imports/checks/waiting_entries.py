"""Bates entries that a sweep has no room for, on disk until their turn comes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby

from core.checks.bates_entry import BatesEntry
from core.checks.family_ranges import FamilyRanges
from core.checks.findings import FactNames, Finding
from core.checks.limits import Limits
from shell.imports.checks.bates_lines import format_again, format_member, parse_entry, parse_member
from shell.utils.external_sort import ExternalSort


class WaitingEntries:
    """Entries of one series that are compared with the next range of the case."""

    def __init__(self, folder: str, limits: Limits) -> None:
        self._lines = ExternalSort(folder, "waiting", limits.lines)

    def add(self, entry: BatesEntry) -> None:
        """Add an entry."""
        self._lines.add([format_again(entry)])

    def drain(self) -> Iterator[BatesEntry]:
        """Yield all entries, in any order, and remove them."""
        for batch in self._lines.read():
            yield from map(parse_entry, batch)
        self._lines.clear()

    def close(self) -> None:
        """Close and delete the file."""
        self._lines.close()


class PostponedFamilies:
    """Members of the families that begin while too many others have not ended."""

    def __init__(self, folder: str, names: FactNames, limits: Limits) -> None:
        self._lines, self._names = ExternalSort(folder, "families", limits.lines), names

    def add(self, entry: BatesEntry) -> None:
        """Add a member."""
        self._lines.add([format_member(entry)])

    def find_gaps(self) -> Iterator[Finding]:
        """Yield what is missing in these families, one after the other."""
        ranges = FamilyRanges(self._names, self.add, max_open=1)
        entries = map(parse_member, chain.from_iterable(self._lines.read()))
        for _, members in groupby(entries, key=lambda entry: (*entry[:2], *entry[8:])):
            for entry in members:
                yield from ranges.add(entry)
            yield from ranges.end_series()

    def close(self) -> None:
        """Close and delete the file."""
        self._lines.close()
