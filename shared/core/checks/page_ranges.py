"""Compare the pages of one document with what its row states: the numbers of its range, and its page count.

Pure. Differences that other documents can explain are numbers, on which the caller decides, who knows all documents:
a number of the range without a page here can be under another document, and a page outside of the range can belong to
another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from core.checks.bates import DIGITS, BatesRange, read_range
from core.checks.page_facts import DocumentPages, Numbered, PageRow, PageRun
from core.checks.page_findings import PageFinding, describe_count, describe_gaps, describe_order, describe_strange_key
from core.codes import CheckCode

Interval = tuple[int, int]


@dataclass
class Comparison:
    """What differs: numbers of the stated range without a page, pages outside of it, and findings that stand alone.

    `stated` is the range that the numbers were compared with, None if they could not be.
    """

    stated: BatesRange | None = None
    missing: list[Interval] = field(default_factory=list)
    outside: list[Numbered] = field(default_factory=list)
    findings: list[PageFinding] = field(default_factory=list)


def read_stated_range(row: PageRow) -> BatesRange | None:
    """Return the range of a row that states both of its ends without a fault; None for others."""
    if not row.bates_begin or not row.bates_end:
        return None
    stated, codes = read_range(row.bates_begin, row.bates_end)
    return stated if set(codes) <= {CheckCode.BATES_WIDTH} else None


def number_runs(document: DocumentPages) -> list[Numbered]:
    """Return the runs of a document as numbers; none if all pages have one key, which is that of the document."""
    if len(document.runs) > 1 and {(run.key, run.length) for run in document.runs} == {(document.runs[0].key, 1)}:
        return []
    return [Numbered(_read_numbers(run), run) for run in document.runs]


def _read_numbers(run: PageRun) -> BatesRange | None:
    first = read_range(run.key, "")[0]
    return first and first._replace(last=first.first + run.length - 1)


def compare_pages(row: PageRow | None, document: DocumentPages, *, by_page: bool) -> Comparison:
    """Return what differs between a document and its row, which is None if no row is known.

    `by_page`: the ranges of the data file number pages; otherwise each document has one number.
    """
    stated = read_stated_range(row) if row else None
    runs = number_runs(document)
    found = Comparison(stated if _is_comparable(stated, row, document, runs) else None)
    if found.stated is not None:
        _compare_numbers(found, found.stated, document, runs)
    elif not document.is_one_file:
        found.findings += describe_gaps(document, list(_find_gaps(runs)))
    if not document.is_one_file:
        kept = [each for each in runs if found.stated is None or _is_inside(each, found.stated)]
        found.findings += describe_order(document, list(_find_disorder(kept)))
    if row is not None:
        found.findings += _compare_counts(row, document, stated, found, by_page=by_page)
    return found


def _is_comparable(
    stated: BatesRange | None, row: PageRow | None, document: DocumentPages, runs: Sequence[Numbered]
) -> bool:
    """Return whether the keys of pages are numbers of the stated range.

    They are not if the first one is in another series, or if they are the document's number with one for the page
    after it: ABC001.0002.
    """
    if stated is None or row is None or not runs:
        return False
    first = runs[0].numbers
    own = (row.bates_begin, document.key)
    return first is not None and first[:2] == stated[:2] and not any(_is_below(each.run.key, own) for each in runs)


def _is_below(key: str, own: Iterable[str]) -> bool:
    return any(each and len(key) > len(each) and key.startswith(each) and key[len(each)] not in DIGITS for each in own)


def _is_inside(each: Numbered, stated: BatesRange) -> bool:
    return each.numbers is not None and each.numbers.is_in(stated)


def _compare_numbers(found: Comparison, stated: BatesRange, document: DocumentPages, runs: Sequence[Numbered]) -> None:
    covered: list[Interval] = []
    for numbers, run in runs:
        if numbers is None:
            found.findings.append(describe_strange_key(document, run))
        elif numbers[:2] != stated[:2]:
            found.outside.append(Numbered(numbers, run))
        else:
            first, last = max(numbers.first, stated.first), min(numbers.last, stated.last)
            if first <= last:
                covered.append((first, last))
            found.outside += _cut(numbers, run, numbers.first, min(numbers.last, stated.first - 1))
            found.outside += _cut(numbers, run, max(numbers.first, stated.last + 1), numbers.last)
    if not document.is_one_file:
        found.missing = list(_list_missing(stated, sorted(covered)))


def _cut(numbers: BatesRange, run: PageRun, first: int, last: int) -> Iterator[Numbered]:
    """Yield the part of a run from one number to another, if there is one."""
    if first <= last:
        part = run._replace(length=last - first + 1, line=run.line + first - numbers.first)
        yield Numbered(numbers._replace(first=first, last=last), part)


def _list_missing(stated: BatesRange, covered: Iterable[Interval]) -> Iterator[Interval]:
    following = stated.first
    for first, last in covered:
        if first > following:
            yield following, first - 1
        following = max(following, last + 1)
    if following <= stated.last:
        yield following, stated.last


def _find_gaps(runs: Sequence[Numbered]) -> Iterator[tuple[Numbered, Numbered]]:
    """Yield the pairs of runs between which numbers of their series are left out."""
    for before, after in pairwise(runs):
        if _are_in_series(before, after) and _first(after) > _last(before) + 1:
            yield before, after


def _find_disorder(runs: Sequence[Numbered]) -> Iterator[tuple[Numbered, Numbered]]:
    """Yield the pairs of runs of which the second one repeats a number or goes back."""
    for before, after in pairwise(runs):
        if _are_in_series(before, after) and _first(after) <= _last(before):
            yield before, after


def _are_in_series(before: Numbered, after: Numbered) -> bool:
    return before.numbers is not None and after.numbers is not None and before.numbers[:2] == after.numbers[:2]


def _first(each: Numbered) -> int:
    return each.numbers.first if each.numbers else 0


def _last(each: Numbered) -> int:
    return each.numbers.last if each.numbers else 0


def _compare_counts(
    row: PageRow, document: DocumentPages, stated: BatesRange | None, found: Comparison, *, by_page: bool
) -> Iterator[PageFinding]:
    """Yield the finding that the numbers of pages differ, unless pages that are missing or outside explain it."""
    size = stated.last - stated.first + 1 if stated and (by_page or stated.last > stated.first) else None
    if document.is_one_file:
        known = {each for each in (row.page_count, size) if each is not None}
        pages = {each for each in (document.pages, document.frames) if each is not None}
        is_unknown = not pages and known != {1}
        if known and (len(known | pages) > 1 or is_unknown):
            yield describe_count(row, document, size)
        return
    expected = row.page_count
    if found.stated is None and expected is None and size is not None and size > 1:
        expected = size
    # Of numbers that were compared, each page that is missing or too many is a finding of its own.
    is_explained = found.stated is not None and row.page_count == found.stated.last - found.stated.first + 1
    differs = expected is not None and expected != document.pages and not is_explained
    if differs or (document.frames is not None and document.frames != document.pages):
        yield describe_count(row, document, size)
