"""Read the Bates numbers of a load file, and find the faults of one row.

A number is a prefix, the last run of digits and a suffix without digits: `ABC-0001.0002` is 2 with the prefix
`ABC-0001.`. Numbers with one prefix and suffix are a series; they are compared as integers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from core.checks.facts import RowFacts
from core.checks.findings import FactNames, Finding, warn
from core.codes import CheckCode

DIGITS = "0123456789"
MAX_CHARACTERS = 255
_NUMBER = re.compile(r"(.*?)(?<![0-9])([0-9]++)([^0-9]*+)", re.DOTALL)


class BatesRange(NamedTuple):
    """The numbers `first` to `last`, inclusive, of a series; `width` is the number of digits of the begin number."""

    suffix: str
    prefix: str
    first: int
    last: int
    width: int

    def is_in(self, other: BatesRange) -> bool:
        """Return whether all numbers are among those of the other range."""
        return self[:2] == other[:2] and other.first <= self.first and self.last <= other.last

    def meets(self, other: BatesRange) -> bool:
        """Return whether a number is in both ranges."""
        return self[:2] == other[:2] and other.first <= self.last and self.first <= other.last


def read_range(begin: str, end: str) -> tuple[BatesRange | None, tuple[CheckCode, ...]]:
    """Return the range of two numbers, and what is wrong with them; a blank end stands for one number.

    Of numbers that are the wrong way round the range is that of the right one; if the two are not of one series, or
    the end is not a number, the range is the begin number alone. None: the begin is not a number.
    """
    regular = _read_regular(begin, end)
    if regular is not None:
        return regular, ()
    first = _split_number(begin)
    if first is None:
        return None, (CheckCode.BATES_UNPARSED,)
    prefix, digits, suffix = first
    number, width = int(digits), len(digits)
    if not end or end == begin:
        return BatesRange(suffix, prefix, number, number, width), ()
    alone, last = BatesRange(suffix, prefix, number, number, width), _split_number(end)
    if last is None:
        return alone, (CheckCode.BATES_UNPARSED,)
    if (last[0], last[2]) != (prefix, suffix):
        return alone, (CheckCode.BATES_PREFIX,)
    other = int(last[1])
    codes = () if len(last[1]) == width else (CheckCode.BATES_WIDTH,)
    if other < number:
        return BatesRange(suffix, prefix, other, number, width), (*codes, CheckCode.BATES_REVERSED)
    return BatesRange(suffix, prefix, number, other, width), codes


def _read_regular(begin: str, end: str) -> BatesRange | None:
    """Return the range of two numbers that have nothing after their digits and nothing wrong; None for all others.

    The fast path of `read_range`, which returns the same for them; a test compares the two with a reference.
    """
    prefix = begin.rstrip(DIGITS)
    start = len(prefix)
    if len(end) != len(begin) or not start < len(begin) <= MAX_CHARACTERS or not end.startswith(prefix):
        return None
    digits, last = begin[start:], end[start:]
    if last < digits or not last.isdecimal() or not last.isascii():
        return None
    return BatesRange("", prefix, int(digits), int(last), len(digits))


def _split_number(text: str) -> tuple[str, str, str] | None:
    """Return prefix, digits and suffix of a Bates number, None for another text."""
    if len(text) > MAX_CHARACTERS:
        return None
    prefix = text.rstrip(DIGITS)
    if len(prefix) < len(text):
        return prefix, text[len(prefix) :], ""
    found = _NUMBER.fullmatch(text)
    return (found[1], found[2], found[3]) if found else None


def format_number(prefix: str, number: int, width: int, suffix: str) -> str:
    """Return a number with at least `width` digits."""
    return f"{prefix}{number:0{width}d}{suffix}"


def describe_numbers(row: RowFacts, codes: tuple[CheckCode, ...], names: FactNames) -> Iterator[Finding]:
    """Yield the findings of a row whose own numbers have these faults."""
    at = names.bates_begin if not _split_number(row.bates_begin) else names.bates_end
    for code in codes:
        message = _describe(code, row.bates_begin, row.bates_end)
        yield warn(code, row.line, at, f"Line {row.line}: {message}", row.control_number)


def describe_statement(row: RowFacts, codes: tuple[CheckCode, ...], names: FactNames) -> Iterator[Finding]:
    """Yield the findings of a row whose stated family range has these faults."""
    for code in codes:
        message = f"Line {row.line}: the stated family range: {_describe(code, row.family_begin, row.family_end)}"
        yield warn(code, row.line, names.family_begin, message, row.control_number)


def describe_pages(row: RowFacts, numbers: BatesRange, names: FactNames) -> Finding:
    """Return the finding of a row whose range and page count differ."""
    message = (
        f"Line {row.line}: {row.bates_begin} to {row.bates_end} are {numbers.last - numbers.first + 1} numbers, but the"
        f" page count is {row.page_count}. Correct the range or the count."
    )
    return warn(CheckCode.BATES_PAGES, row.line, names.page_count, message, row.control_number)


def _describe(code: CheckCode, begin: str, end: str) -> str:
    if code is CheckCode.BATES_UNPARSED:
        wrong = begin if _split_number(begin) is None else end
        return f"{wrong!r} is not a Bates number, which has digits. Correct it, or map the column to property."
    if code is CheckCode.BATES_PREFIX:
        return f"{begin} and {end} differ in prefix or suffix. Correct the one that is wrong."
    if code is CheckCode.BATES_WIDTH:
        return f"{begin} and {end} differ in their number of digits. Write both with the same number."
    return f"the begin {begin} is after the end {end}. Correct the one that is wrong."
