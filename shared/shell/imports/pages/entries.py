"""The lines of text that the reconciliation sorts: rows and documents by key, pages by number, what is missing by row.

A number is written after a character for its number of digits, so that texts are in the order of the numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from core.checks.bates import BatesRange, format_number
from core.checks.facts import CELL_END, escape, unescape
from core.checks.page_facts import DocumentPages, Numbered, PageRow, read_document
from core.checks.page_findings import Stated

# Of the lines of one key: rows by control number, rows by begin Bates number, documents.
BY_NUMBER, BY_BEGIN, DOCUMENT = "0", "1", "2"
# Of the lines of one number: a range that begins there, a page outside of the range of its document.
RANGE, PAGE = "0", "1"
# Of the lines of one row: numbers that its document has no page for, a page that is under another document.
MISSING, ELSEWHERE = "0", "1"
_E = CELL_END


class RangeEntry(NamedTuple):
    """The range of a row, as the pass over numbers reads it."""

    last: int
    control_number: str
    line: int
    seq: int


class PageEntry(NamedTuple):
    """A page outside of the range of its document.

    `owner` is the control number of the document's row, blank without one, and `stated` the range of that row.
    """

    number: int
    key: str
    line: int
    is_own: bool
    owner: str
    document: str
    document_line: int
    stated: str


def format_row(row: PageRow, rank: int) -> list[str]:
    """Return the lines of a row by its keys; of rows with one key, that with the lowest rank comes first.

    By control number, that comes first whose range begins with it; another range is known by its own begin only.
    """
    text, begins = json.dumps(row), row.bates_begin == row.control_number
    lines: list[str] = []
    if begins or not row.seq:
        lines.append(
            f"{escape(row.control_number)}{_E}{BY_NUMBER}{_E}{rank:06d}{int(not begins)}{row.seq:06d}{_E}{text}"
        )
    if row.bates_begin:
        lines.append(f"{escape(row.bates_begin)}{_E}{BY_BEGIN}{_E}{rank:06d}{row.seq:06d}{_E}{text}")
    return lines


def format_document(document: DocumentPages, *, is_own: bool) -> str:
    """Return the line of a document by its key; `is_own`: it is of the import whose pages are reconciled."""
    return f"{escape(document.key)}{_E}{DOCUMENT}{_E}{int(is_own)}{_E}{json.dumps(document)}"


def parse_row(rest: str) -> PageRow:
    """Return the row of a line, of which `rest` is what follows the kind."""
    return PageRow(*json.loads(rest.split(_E, 1)[1]))


def parse_document(rest: str) -> tuple[bool, DocumentPages]:
    """Return whether a document is of the import that is reconciled, and the document."""
    is_own, text = rest.split(_E, 1)
    return is_own == "1", read_document(json.loads(text))


def format_range(row: PageRow, stated: BatesRange) -> str:
    """Return the line of a stated range by its first number."""
    values = json.dumps((stated.last, row.control_number, row.line, row.seq))
    return f"{_format_place(stated)}{_E}{RANGE}{_E}{values}"


def format_pages(outside: Numbered, values: tuple[bool, str, str, int, str]) -> Iterator[str]:
    """Yield a line for each page of a run by its number; `values` are the last five members of PageEntry."""
    numbers, run = outside
    for index in range(run.length if numbers else 0):
        one = numbers._replace(first=numbers.first + index) if numbers else None
        if one is not None:
            key = format_number(one.prefix, one.first, one.width, one.suffix)
            yield f"{_format_place(one)}{_E}{PAGE}{_E}{json.dumps((one.first, key, run.line + index, *values))}"


def _format_place(numbers: BatesRange) -> str:
    first = str(numbers.first)
    return f"{escape(numbers.suffix)}{_E}{escape(numbers.prefix)}{_E}{_LENGTHS[len(first)]}{first}"


def parse_entry(text: str) -> tuple[str, RangeEntry | PageEntry]:
    """Return the series of a line by number, and its entry."""
    suffix, prefix, _, kind, values = text.split(_E)
    found = json.loads(values)
    return f"{suffix}{_E}{prefix}", RangeEntry(*found) if kind == RANGE else PageEntry(*found)


def format_missing(stated: Stated, seq: int, numbers: BatesRange, first: int, last: int, *, is_own: bool) -> str:
    """Return the line of numbers without a page, by the row and its range that state them."""
    values = json.dumps((last, is_own, stated, numbers))
    return f"{_format_row(stated.control_number, seq, first)}{_E}{MISSING}{_E}{values}"


def format_elsewhere(other: RangeEntry, number: int) -> str:
    """Return the line of a page that is under another document, by the row and its range that have its number."""
    return f"{_format_row(other.control_number, other.seq, number)}{_E}{ELSEWHERE}{_E}"


def _format_row(control_number: str, seq: int, number: int) -> str:
    return f"{escape(control_number)}{_E}{seq:06d}{_E}{_LENGTHS[len(str(number))]}{number}"


class MissingEntry(NamedTuple):
    """Numbers `first` to `last` without a page, or (`stated` is None) the number of a page under another document."""

    first: int
    last: int
    is_own: bool = False
    stated: Stated | None = None
    numbers: BatesRange | None = None


def parse_missing(text: str) -> tuple[tuple[str, str], MissingEntry]:
    """Return the control number with the number of the range, and the entry of a line by row."""
    number, seq, first, kind, values = text.split(_E)
    at = int(first[1:])
    if kind == ELSEWHERE:
        return (unescape(number), seq), MissingEntry(at, at)
    last, is_own, stated, numbers = json.loads(values)
    return (unescape(number), seq), MissingEntry(at, last, is_own, Stated(*stated), BatesRange(*numbers))


_LENGTHS = tuple(chr(48 + length) for length in range(256))
