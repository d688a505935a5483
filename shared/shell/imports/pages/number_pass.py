"""Find the documents whose ranges have the pages that are outside of the range of their own document.

One pass over ranges and pages by series and number. Of the ranges that have begun, the two that reach furthest answer
for any page whether a document other than its own has its number: memory does not grow with ranges that overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from core.checks.page_facts import PageRun
from core.checks.page_findings import PageFinding, describe_other_document, describe_unknown_number
from shell.imports.pages.entries import PageEntry, RangeEntry, format_elsewhere, parse_entry
from shell.utils.external_sort import ExternalSort


@dataclass
class _Group:
    """Pages with consecutive numbers under one document that all belong to one other document, or to none."""

    first: PageEntry
    last: PageEntry
    other: RangeEntry | None

    def has_next(self, page: PageEntry, other: RangeEntry | None) -> bool:
        place = (page.number - 1, page.line - 1, page.document_line, page.is_own, other)
        return place == (self.last.number, self.last.line, self.last.document_line, self.last.is_own, self.other)


class NumberPass:
    """One pass; `missing` takes a line for each page that another row has the number of."""

    def __init__(self, missing: ExternalSort) -> None:
        self._missing = missing
        self._series = ""
        self._furthest: list[RangeEntry] = []
        self._group: _Group | None = None

    def find(self, lines: ExternalSort) -> Iterator[PageFinding]:
        """Yield the findings of all pages."""
        for series, entry in map(parse_entry, chain.from_iterable(lines.read())):
            if series != self._series:
                self._series, self._furthest = series, []
                yield from self._end_group()
            if isinstance(entry, RangeEntry):
                self._add_range(entry)
            else:
                yield from self._place(entry)
        yield from self._end_group()

    def _add_range(self, entry: RangeEntry) -> None:
        """Keep the two ranges of different documents that reach furthest."""
        ordered = sorted([*self._furthest, entry], key=lambda each: (-each.last, each.line))
        best = ordered[:1]
        best += [each for each in ordered[1:] if each.control_number != best[0].control_number][:1]
        self._furthest = best

    def _place(self, page: PageEntry) -> Iterator[PageFinding]:
        others = (each for each in self._furthest if each.last >= page.number and each.control_number != page.owner)
        other = next(others, None)
        if other is not None:
            self._missing.add([format_elsewhere(other, page.number)])
        if self._group and self._group.has_next(page, other):
            self._group.last = page
            return
        yield from self._end_group()
        self._group = _Group(page, page, other)

    def _end_group(self) -> Iterator[PageFinding]:
        group, self._group = self._group, None
        if group is None or not group.first.is_own:
            return
        first, pages = group.first, group.last.number - group.first.number + 1
        run, owner = PageRun(first.key, pages, first.line), (first.document, first.document_line)
        if group.other is not None:
            other = (group.other.control_number, group.other.line)
            yield describe_other_document(run, pages, owner, other, group.last.key)
        # Without a row nothing says which numbers the document should have.
        elif first.owner:
            yield describe_unknown_number(run, pages, owner, group.last.key, first.stated)
