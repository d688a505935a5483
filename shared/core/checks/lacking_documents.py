"""Find the documents of the case whose numbers lie among those of a file that does not have them.

So a replacement production that lacks a document is distinguished from numbers that were never used. Guaranteed: all of
them are counted, and the first MAX_LISTED are named; memory does not grow with the case. A file with fewer documents of
the series than it lacks is not a replacement, but a part, and is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from core.checks.bates_entry import BatesEntry
from core.checks.findings import MAX_LISTED, FactNames, Finding, warn
from core.codes import CheckCode


class LackingDocuments:
    """The documents of one series, which come in order of their first numbers, those of the case first."""

    def __init__(self, names: FactNames) -> None:
        self._names = names
        self._start()

    def _start(self) -> None:
        self._first: BatesEntry | None = None
        self._last: BatesEntry | None = None
        self._documents = 0
        # Between documents of the file; after the last one so far, with those that have the highest number among them.
        self._count, self._waiting, self._at_highest, self._highest = 0, 0, 0, -1
        self._listed: list[BatesEntry] = []
        self._next: list[BatesEntry] = []

    def add_document(self, entry: BatesEntry) -> None:
        """Add a document of the file: what the case has before it lies among the numbers of the file."""
        if self._waiting:
            shared = self._at_highest if self._highest == entry.first else 0
            named = [each for each in self._next if each.first != entry.first]
            self._listed = [*self._listed, *named][:MAX_LISTED]
            self._count += self._waiting - shared
            self._waiting, self._next = 0, []
        self._first = self._first or entry
        if self._last is None or entry.last > self._last.last:
            self._last = entry
        self._documents += 1

    def add_case(self, entry: BatesEntry) -> None:
        """Add a document of the case that the file lacks."""
        if self._last is None or entry.first <= self._last.last:
            return
        self._at_highest = self._at_highest + 1 if self._highest == entry.first and self._waiting else 1
        self._highest = entry.first
        self._waiting += 1
        if len(self._next) < MAX_LISTED:
            self._next.append(entry)

    def end(self) -> Iterator[Finding]:
        """Yield the finding of the series, if there is one, and begin another one."""
        if self._first and self._last and 0 < self._count <= self._documents:
            yield self._describe(self._first, self._last)
        self._start()

    def _describe(self, first: BatesEntry, last: BatesEntry) -> Finding:
        listed = ", ".join(each.document for each in self._listed)
        more = f" and {self._count - len(self._listed):,} more" if self._count > len(self._listed) else ""
        documents = "1 document" if self._count == 1 else f"{self._count:,} documents"
        message = (
            f"Line {first.line}: the case has {documents} with numbers between"
            f" {first.describe(first.first)} and {last.describe(last.last)} that this file lacks: {listed}{more}."
            " If the file replaces an earlier production, ask the sender whether they were withdrawn."
        )
        return warn(CheckCode.CASE_DOCUMENTS_NOT_IN_FILE, first.line, self._names.bates_begin, message, first.document)
