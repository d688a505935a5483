"""Bates numbers: a prefix, and a number of as many digits as the case uses with it.

A prefix ends in no digit: `AB1` with three digits and `AB` with four would both write AB1001. Page numbers are what a
load file said of a document's pages; nothing here counts pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from core.errors import InvalidInputError, SequenceExhaustedError
from core.field_mapping import normalised

PREFIX = r"^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z_-])?$"
MAX_PREFIX, MAX_DIGITS = 64, 12
PAGE_COUNTS = ("pagecount", "pgcount", "pages", "numpages", "numberofpages")
MOST_PAGES = 100_000
_COUNT = re.compile(r"0*[1-9][0-9]{0,5}", re.ASCII)


class Numbering(StrEnum):
    """What a Bates number is given to."""

    DOCUMENT = "document"
    PAGE = "page"


class NumberRange(NamedTuple):
    """The numbers from `first` to `last`, both included."""

    first: int
    last: int


@dataclass(frozen=True)
class BatesFormat:
    """How a sequence writes its numbers."""

    prefix: str
    digits: int

    def number(self, value: int) -> str:
        """The Bates number of that value: `ACME` and 7 digits write 12 as ACME0000012."""
        return f"{self.prefix}{value:0{self.digits}d}"

    @property
    def last(self) -> int:
        """The highest value that the digits can write."""
        return int(10**self.digits) - 1

    def take(self, next_number: int, count: int) -> NumberRange:
        """The next `count` numbers; raises SequenceExhaustedError when the digits run out."""
        available = max(0, self.last - next_number + 1)
        if count > available:
            raise SequenceExhaustedError(count, available)
        return NumberRange(next_number, next_number + count - 1)


def ranges(first: int, sizes: Iterable[int]) -> Iterator[NumberRange]:
    """One range after the other from `first`, of those sizes."""
    for size in sizes:
        yield NumberRange(first, first + size - 1)
        first += size


def page_count(exhibit_id: int, properties: Mapping[str, str | None]) -> int:
    """How many pages the load file says that the document has; 1 where it says nothing.

    Raises InvalidInputError, naming the exhibit, for a count that is no number from 1 to 100,000.
    """
    said = [value for name, value in properties.items() if normalised(name) in PAGE_COUNTS and (value or "").strip()]
    if not said:
        return 1
    text = (said[0] or "").strip()
    if not _COUNT.fullmatch(text) or int(text) > MOST_PAGES:
        raise InvalidInputError(
            f"the page count of exhibit {exhibit_id} is no number from 1 to {MOST_PAGES}; number by document instead"
        )
    return int(text)
