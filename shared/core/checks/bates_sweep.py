"""Find gaps, overlaps and changes of width among the Bates numbers of a file, in one pass over its ranges in order.

Guaranteed: every gap of a series is found once; every document that shares a number with another one of the file is
named by a finding, but for those that one wider range covers: that range is named once, with their number, and those
among them that share numbers with each other are named too. Every document that shares one with the case is named once.
Memory does not grow with the file: entries beyond a limit wait with the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from core.checks.bates_entry import BatesEntry
from core.checks.family_ranges import FamilyRanges
from core.checks.findings import FactNames, Finding, warn
from core.checks.lacking_documents import LackingDocuments
from core.codes import CheckCode

# What a range belongs to. Of equal ranges, those of the case come first.
CASE, DOCUMENT, FAMILY_MEMBER = "0", "1", "2"


class Waiting(Protocol):
    """Entries that wait outside of memory."""

    def add(self, entry: BatesEntry) -> None:
        """Add an entry."""

    def drain(self) -> Iterator[BatesEntry]:
        """Yield all entries, in any order, and remove them."""


class FileNumbering(NamedTuple):
    """What was decided for the whole file: the suffix of its numbers, whether gaps can be found, and what to compare.

    `with_case`: there are entries of the case.
    """

    suffix: str
    finds_gaps: bool
    with_case: bool


class BatesSweep:
    """One pass over the entries of all series, which come in order."""

    def __init__(
        self, numbering: FileNumbering, names: FactNames, ranges: FamilyRanges, waiting: Waiting, max_held: int
    ) -> None:
        self._numbering, self._names, self._ranges, self._waiting = numbering, names, ranges, waiting
        self._max_held = max_held
        self._lacking = LackingDocuments(names)
        self._series: tuple[str, str] | None = None
        self._start_series()

    def _start_series(self) -> None:
        # The document with the highest number so far, the one before in order, and the same of the case.
        self._highest: BatesEntry | None = None
        self._last, self._width, self._previous_line = -1, 0, 0
        # Of the narrower ranges that the highest one covers: their number, the first, and the one with the highest end.
        self._covered = 0
        self._first_covered: BatesEntry | None = None
        self._inner: BatesEntry | None = None
        self._case: BatesEntry | None = None
        self._held: list[BatesEntry] = []
        self._spilled = False

    def find(self, entries: Iterable[BatesEntry]) -> Iterator[Finding]:
        """Yield the findings of all entries."""
        for entry in entries:
            if entry[:2] != self._series:
                yield from self._end_series()
                self._series = entry[:2]
            if entry[8] is not None:
                yield from self._ranges.add(entry)
            if entry[5] == DOCUMENT:
                if entry[2] != self._last + 1 or entry[6] != self._width or entry[0] != self._numbering.suffix:
                    yield from self._compare(entry)
                if self._numbering.with_case:
                    self._add_to_lacking(entry)
                    yield from self._compare_with_case(entry)
                if entry[3] > self._last:
                    yield from self._end_cover()
                self._keep(entry)
            elif entry[5] == CASE:
                self._add_to_lacking(entry)
                yield from self._compare_held(entry)
        yield from self._end_series()

    def _add_to_lacking(self, entry: BatesEntry) -> None:
        if entry.suffix == self._numbering.suffix:
            (self._lacking.add_case if entry.kind == CASE else self._lacking.add_document)(entry)

    def _end_series(self) -> Iterator[Finding]:
        yield from self._end_cover()
        yield from self._ranges.end_series()
        yield from self._lacking.end()
        for _ in self._waiting.drain() if self._spilled else ():
            pass
        self._start_series()

    def _keep(self, entry: BatesEntry) -> None:
        self._width, self._previous_line = entry[6], entry[4]
        if entry[3] > self._last:
            self._highest, self._last = entry, entry[3]

    def _compare(self, entry: BatesEntry) -> Iterator[Finding]:
        """Compare an entry that does not simply follow the one before."""
        if entry.suffix != self._numbering.suffix:
            yield self._describe_suffix(entry)
        elif self._highest is not None:
            if entry.first <= self._last:
                yield from self._compare_with_highest(entry, self._highest)
            elif entry.first > self._last + 1 and self._numbering.finds_gaps:
                yield self._describe_gap(entry, self._highest)
            if entry.width != self._width:
                yield self._describe_width(entry)

    def _compare_with_highest(self, entry: BatesEntry, highest: BatesEntry) -> Iterator[Finding]:
        """Count a narrower range that the highest one covers, and compare it with the others; else name the overlap."""
        if entry.last > highest.last or entry.last - entry.first >= highest.last - highest.first:
            yield self._describe_overlap(entry, highest)
            return
        if self._inner is not None and entry.first <= self._inner.last:
            yield self._describe_overlap(entry, self._inner)
        if self._inner is None or entry.last > self._inner.last:
            self._inner = entry
        self._covered, self._first_covered = self._covered + 1, self._first_covered or entry

    def _end_cover(self) -> Iterator[Finding]:
        """Yield the finding about the ranges that the highest one covers, if there are any."""
        if self._highest is not None and self._first_covered is not None:
            one = self._covered == 1
            describe = self._describe_overlap if one else self._describe_cover
            yield describe(self._first_covered, self._highest)
        self._covered, self._first_covered, self._inner = 0, None, None

    def _compare_with_case(self, entry: BatesEntry) -> Iterator[Finding]:
        """Compare with ranges of the case that begin before the entry; those that begin after it come later."""
        if entry.suffix != self._numbering.suffix:
            return
        if self._case is not None and self._case.last >= entry.first:
            yield self._describe_case(entry, self._case)
            return
        self._held.append(entry)
        if len(self._held) > self._max_held:
            self._held = [each for each in self._held if each.last >= entry.first]
            if len(self._held) > self._max_held // 2:
                self._spill_held()

    def _spill_held(self) -> None:
        self._spilled = True
        for entry in self._held:
            self._waiting.add(entry)
        self._held = []

    def _compare_held(self, case: BatesEntry) -> Iterator[Finding]:
        """Compare a range of the case with the entries before it, none of which shared a number with the case yet."""
        for held in (self._held, self._waiting.drain() if self._spilled else ()):
            for entry in held:
                if entry.last >= case.first:
                    yield self._describe_case(entry, case)
        self._held, self._spilled = [], False
        if self._case is None or case.last > self._case.last:
            self._case = case

    def _describe_suffix(self, entry: BatesEntry) -> Finding:
        number = entry.describe(entry.first)
        usual = f"in {self._numbering.suffix!r}" if self._numbering.suffix else "in a digit"
        message = f"Line {entry.line}: {number} does not end {usual} as the other Bates numbers of the file do."
        return self._warn(CheckCode.BATES_UNPARSED, entry, f"{message} Compare it with the document.")

    def _describe_overlap(self, entry: BatesEntry, other: BatesEntry) -> Finding:
        message = (
            f"Line {entry.line}: {_describe_range(entry)} has numbers of line {other.line}, which has"
            f" {_describe_range(other)}. Correct the range that is wrong."
        )
        return self._warn(CheckCode.BATES_OVERLAP, entry, message)

    def _describe_cover(self, first: BatesEntry, wide: BatesEntry) -> Finding:
        message = (
            f"Line {wide.line}: {_describe_range(wide)} covers the ranges of {self._covered} other documents, from line"
            f" {first.line} with {_describe_range(first)} on. Correct the end of the range, or the others."
        )
        return self._warn(CheckCode.BATES_OVERLAP, wide, message)

    def _describe_case(self, entry: BatesEntry, other: BatesEntry) -> Finding:
        message = (
            f"Line {entry.line}: {_describe_range(entry)} has numbers of document {other.document} of the case,"
            f" which has {_describe_range(other)}. Find out which of the two is wrong."
        )
        return self._warn(CheckCode.BATES_OVERLAP_CASE, entry, message)

    def _describe_gap(self, entry: BatesEntry, before: BatesEntry) -> Finding:
        first, last = before.last + 1, entry.first - 1
        numbers = entry.describe(first) if first == last else f"{entry.describe(first)} to {entry.describe(last)}"
        message = (
            f"Line {entry.line}: {last - first + 1} missing: {numbers}, between line {before.line} and line"
            f" {entry.line}. Look first whether a rejected row has these numbers. Ask the sender whether documents were"
            " withheld."
        )
        return self._warn(CheckCode.BATES_GAP, entry, message)

    def _describe_width(self, entry: BatesEntry) -> Finding:
        message = (
            f"Line {entry.line}: {entry.describe(entry.first)} has {entry.width} digits; the number before it, on line"
            f" {self._previous_line}, has {self._width}. Compare both with the documents."
        )
        return self._warn(CheckCode.BATES_WIDTH, entry, message)

    def _warn(self, code: CheckCode, entry: BatesEntry, message: str) -> Finding:
        return warn(code, entry.line, self._names.bates_begin, message, entry.document)


def _describe_range(entry: BatesEntry) -> str:
    first = entry.describe(entry.first)
    return first if entry.first == entry.last else f"{first} to {entry.describe(entry.last)}"


class NumberingEvidence:
    """What a pass over the entries says about the numbering of documents without end numbers."""

    def __init__(self) -> None:
        self._steps = self._single = 0
        self._before: tuple[str, str, int] | None = None

    def add(self, entries: Iterable[BatesEntry]) -> None:
        """Count the steps from number to number."""
        for entry in entries:
            if entry.kind != DOCUMENT:
                continue
            if self._before and self._before[:2] == entry[:2] and self._before[2] < entry.first:
                self._steps += 1
                self._single += entry.first == self._before[2] + 1
            self._before = (entry.suffix, entry.prefix, entry.first)

    @property
    def is_by_document(self) -> bool:
        """Whether most numbers follow the one before: then each document has one number, not one a page."""
        return 2 * self._single > self._steps
