"""Read a Bates number as its prefix and its number, and ranges of them, so that they are compared whatever the padding.

The number is the last run of digits, which ends the text: `SMITH-0012` is the number 12 of the prefix `SMITH-`.
Guaranteed: prefixes are compared byte for byte and numbers as integers. A range of `level` L has at most 2 to the power
of L numbers, so that those with a given number begin in a window of that size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

# More digits do not fit into the integers of the database.
MAX_DIGITS = 18
MAX_LISTED = 20
# The differences of numbers of 18 digits have 60 bits.
LEVELS = range(61)
MAX_SHOWN = 200
_NUMBER = re.compile(rf"(.*?)([0-9]{{1,{MAX_DIGITS}}})", re.ASCII | re.DOTALL)


class BatesNumber(NamedTuple):
    """A prefix, compared character by character, and a number."""

    prefix: str
    number: int


def parse_bates_number(text: str) -> BatesNumber:
    """Return the prefix and number of a Bates number.

    Raises ValueError, with a message that says what to send, unless the text ends in 1 to 18 digits.
    """
    found = _NUMBER.fullmatch(text)
    if not found or found[1][-1:].isdecimal():
        raise ValueError(f"send a Bates number that ends in 1 to {MAX_DIGITS} digits, such as SMITH0000012")
    return BatesNumber(found[1], int(found[2]))


def describe_shared_number(numbers: Sequence[str], count: int) -> str:
    """Say which `count` documents of a case begin with one Bates number.

    `numbers` are their control numbers, or the first of them; MAX_LISTED are named.
    """
    more = f" and {count - MAX_LISTED} more" if count > MAX_LISTED else ""
    listed = ", ".join(numbers[:MAX_LISTED]) + more
    return f"{count} documents of the case begin with this Bates number: {listed}."


class NumberSpan(NamedTuple):
    """A range as integers.

    A begin that is not a Bates number has itself as the prefix and no numbers: it is found by its text alone.
    """

    prefix: bytes
    level: int | None
    first: int | None
    last: int | None


class LevelWindow(NamedTuple):
    """Where ranges of a level begin that have one of some numbers."""

    level: int
    lowest: int
    highest: int


def read_span(begin: str, end: str | None) -> NumberSpan:
    """Return the range of two numbers; the begin alone if the end is blank, lower, or has another prefix or no number.

    The same rule as that of the filters `batesFrom` and `batesTo`.
    """
    try:
        prefix, first = parse_bates_number(begin)
    except ValueError:
        return NumberSpan(begin.encode(), None, None, None)
    last = first
    # Most documents have one number, which is not parsed twice.
    if end and end != begin:
        with suppress(ValueError):
            other, number = parse_bates_number(end)
            last = number if other == prefix and number > first else first
    # ceil(log2(count)) of the count of its numbers, exactly.
    return NumberSpan(prefix.encode(), (last - first).bit_length(), first, last)


def list_windows(lowest: int, highest: int) -> Iterator[LevelWindow]:
    """Yield, for each level, where ranges begin that have a number from `lowest` to `highest`."""
    for level in LEVELS:
        yield LevelWindow(level, max(0, lowest - (1 << level) + 1), highest)


def describe_range(begin: str | None, end: str | None) -> str:
    """Return a range as messages show it, each number up to MAX_SHOWN characters."""
    if not begin:
        return "no number" if not end else f"an end {_cut(end)} without a begin"
    return _cut(begin) if not end or end == begin else f"{_cut(begin)} to {_cut(end)}"


def describe_change(before: tuple[str | None, str | None], after: tuple[str | None, str | None]) -> str:
    """Return what the warning about another range of a document says."""
    old, new = describe_range(*before), describe_range(*after)
    kept = "The earlier range stays with the document, which is found by both."
    return f"The document had {old} and has {new} now. {kept} If it is wrong, undo the import that stated it."


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}[cut]"
