"""The findings of the reconciliation of pages: each says what was stated and what was found, then what to do.

Guaranteed: what is stated and found comes before ADVICE, in words that a producing party reads without knowing this
program; a list in a message is bounded, and says how much it leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.checks.bates import BatesRange, format_number
from core.checks.page_facts import DocumentPages, Numbered, PageRow, PageRun
from core.codes import WarningCode

LISTED_INTERVALS = 20
MAX_SHOWN = 100
# The codes that nothing else writes.
PAGE_CODES = tuple(
    code.value
    for code in (
        *(WarningCode.PAGES_MISSING, WarningCode.PAGE_OF_OTHER_DOCUMENT),
        *(WarningCode.PAGE_KEY_GAP, WarningCode.PAGE_COUNT_DIFFERS),
    )
)
ADVICE = " Ask the sender "


class PageFinding(NamedTuple):
    """A difference at a line of the image load file; `document` is the document that it is about."""

    code: WarningCode
    line: int
    message: str
    document: str


class Stated(NamedTuple):
    """What a row states of the pages of its document, and the number of pages that the image load file has for it."""

    row_line: int
    control_number: str
    begin: str
    end: str
    document_line: int
    pages: int


def show(text: str) -> str:
    """Return a key as a message shows it, cut where it is long."""
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… (cut)"


def count_pages(number: int) -> str:
    """Return "1 page" or "2 pages"."""
    return f"{number:,} page{'' if number == 1 else 's'}"


def describe_missing(
    stated: Stated, numbers: BatesRange, missing: Sequence[tuple[int, int]], pages: int, parts: int
) -> PageFinding:
    """Return the finding of numbers without a page: the first of `parts` intervals, which are `pages` numbers."""
    listed = ", ".join(_describe_interval(numbers, first, last) for first, last in missing)
    more = f" and {parts - len(missing):,} more ranges" if parts > len(missing) else ""
    size = numbers.last - numbers.first + 1
    message = (
        f"Line {stated.document_line}: the data file states {show(stated.begin)} to {show(stated.end)}"
        f" ({count_pages(size)}, line {stated.row_line} of the data file), and the image load file has"
        f" {count_pages(stated.pages)}. Missing: {listed}{more} ({count_pages(pages)})."
        f"{ADVICE}for these pages, or for the right range."
    )
    return PageFinding(WarningCode.PAGES_MISSING, stated.document_line, message, stated.control_number)


def describe_other_document(
    first: PageRun, pages: int, owner: tuple[str, int], other: tuple[str, int], last: str
) -> PageFinding:
    """Return the finding of pages that the data file has in another document; documents come with their lines."""
    what = f"page {show(first.key)}" if pages == 1 else f"pages {show(first.key)} to {show(last)}"
    message = (
        f"Line {first.line}: {what} under document {show(owner[0])} (line {owner[1]}), and the data file has"
        f" {'it' if pages == 1 else 'them'} in document {show(other[0])} (line {other[1]} of the data file)."
        f"{ADVICE}where the document ends, and correct the document breaks or the ranges."
    )
    return PageFinding(WarningCode.PAGE_OF_OTHER_DOCUMENT, first.line, message, owner[0])


def describe_unknown_number(first: PageRun, pages: int, owner: tuple[str, int], last: str, stated: str) -> PageFinding:
    """Return the finding of pages whose numbers no document of the data file has."""
    what = f"page {show(first.key)}" if pages == 1 else f"pages {show(first.key)} to {show(last)}"
    message = (
        f"Line {first.line}: {what} under document {show(owner[0])} (line {owner[1]}), which the data file states as"
        f" {stated}; no document of the data file has {'this number' if pages == 1 else 'these numbers'}."
        f"{ADVICE}for the right range or the right page keys."
    )
    return PageFinding(WarningCode.PAGE_KEY_GAP, first.line, message, owner[0])


def describe_strange_key(document: DocumentPages, run: PageRun) -> PageFinding:
    """Return the finding of a page key without a number, in a document whose range is stated in numbers."""
    message = (
        f"Line {run.line}: the page key {show(run.key)} under document {show(document.key)} (line {document.line}) has"
        f" no number, so that it is in no stated range.{ADVICE}for the right page key."
    )
    return PageFinding(WarningCode.PAGE_KEY_GAP, run.line, message, document.key)


def describe_gaps(document: DocumentPages, pairs: Sequence[tuple[Numbered, Numbered]]) -> list[PageFinding]:
    """Return the finding of a document whose page keys leave numbers out, if they do."""
    gaps = [(before.numbers, after) for before, after in pairs if before.numbers and after.numbers]
    if not gaps:
        return []
    missing = [(numbers, numbers.last + 1, after.numbers.first - 1) for numbers, after in gaps if after.numbers]
    listed = ", ".join(_describe_interval(*each) for each in missing[:LISTED_INTERVALS])
    more = f" and {len(missing) - LISTED_INTERVALS:,} more ranges" if len(missing) > LISTED_INTERVALS else ""
    pages = sum(last - first + 1 for _, first, last in missing)
    message = (
        f"Line {document.line}: the page keys of document {show(document.key)} leave out {listed}{more}"
        f" ({count_pages(pages)}; the first before line {gaps[0][1].run.line})."
        f"{ADVICE}whether pages are missing."
    )
    return [PageFinding(WarningCode.PAGE_KEY_GAP, document.line, message, document.key)]


def describe_order(document: DocumentPages, pairs: Sequence[tuple[Numbered, Numbered]]) -> list[PageFinding]:
    """Return the finding of a document whose page keys repeat a number or go back, if they do."""
    if not pairs:
        return []
    before, after = pairs[0]
    last = before.numbers.last if before.numbers else 0
    previous = _format(before.numbers, last) if before.numbers else before.run.key
    more = f" ({len(pairs) - 1:,} more such places in the document)" if len(pairs) > 1 else ""
    message = (
        f"Line {after.run.line}: under document {show(document.key)} (line {document.line}), the page key"
        f" {show(after.run.key)} comes after {show(previous)}{more}."
        f"{ADVICE}whether pages are there twice or in the wrong order."
    )
    return [PageFinding(WarningCode.PAGE_KEY_GAP, after.run.line, message, document.key)]


def describe_count(row: PageRow, document: DocumentPages, size: int | None) -> PageFinding:
    """Return the finding of a document whose numbers of pages differ; `size` is that of its stated range, if known."""
    stated = [f"a page count of {row.page_count:,}"] if row.page_count is not None else []
    if size is not None:
        stated.append(f"{show(row.bates_begin)} to {show(row.bates_end)} ({count_pages(size)})")
    message = (
        f"Line {document.line}: the data file states {' and '.join(stated) or 'no number of pages'}"
        f" (line {row.line} of the data file), and {_describe_found(document)}."
        f"{ADVICE}which number is right, and for the pages that are missing."
    )
    return PageFinding(WarningCode.PAGE_COUNT_DIFFERS, document.line, message, row.control_number)


def _describe_found(document: DocumentPages) -> str:
    if document.pages is None and document.frames is None:
        return (
            "the image load file has one line without a page count, for a file that can have several pages and was not"
            " opened or cannot be"
        )
    listed = "one file without a page count" if document.pages is None else count_pages(document.pages)
    in_files = f", and the image files have {document.frames:,}" if document.frames is not None else ""
    return f"the image load file has {listed}{in_files}"


def _describe_interval(numbers: BatesRange, first: int, last: int) -> str:
    ends = (_format(numbers, first), _format(numbers, last))
    return show(ends[0]) if first == last else f"{show(ends[0])} to {show(ends[1])}"


def _format(numbers: BatesRange, number: int) -> str:
    return format_number(numbers.prefix, number, numbers.width, numbers.suffix)
