"""Bates numbers: a prefix, and a number with the digits that the case uses with that prefix.

A prefix does not end in a digit: `AB1` with three digits and `AB` with four would both write AB1001. The page count of
a document comes from its load file; nothing here counts pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from core.errors import InvalidInputError, SequenceExhaustedError
from core.load_file.header_names import normalise_name

PREFIX = r"^[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z_-])?$"
MAX_PREFIX, MAX_DIGITS = 64, 12
PAGE_COUNTS = ("pagecount", "pgcount", "pages", "numpages", "numberofpages")
MAX_PAGES = 100_000
_COUNT = re.compile(r"0*[1-9][0-9]{0,5}", re.ASCII)


class Numbering(StrEnum):
    """The unit that gets a Bates number."""

    DOCUMENT = "document"
    PAGE = "page"


class NumberRange(NamedTuple):
    """The numbers from `first` to `last`, inclusive."""

    first: int
    last: int


@dataclass(frozen=True)
class BatesFormat:
    """The prefix and the number of digits of a sequence."""

    prefix: str
    digits: int

    def format_number(self, value: int) -> str:
        """Return the Bates number of a value: with `ACME` and 7 digits, 12 is ACME0000012."""
        return f"{self.prefix}{value:0{self.digits}d}"

    @property
    def last(self) -> int:
        """The highest value that the digits can express."""
        return int(10**self.digits) - 1

    def take(self, next_number: int, count: int) -> NumberRange:
        """Return the next `count` numbers. Raises SequenceExhaustedError if the digits cannot express all of them."""
        available = max(0, self.last - next_number + 1)
        if count > available:
            raise SequenceExhaustedError(count, available)
        return NumberRange(next_number, next_number + count - 1)


def split_numbers(first: int, sizes: Iterable[int]) -> Iterator[NumberRange]:
    """Yield consecutive ranges of these sizes, starting at `first`."""
    for size in sizes:
        yield NumberRange(first, first + size - 1)
        first += size


def parse_page_count(exhibit_id: int, properties: Mapping[str, str | None]) -> int:
    """Return the document's page count in its load file, or 1 if the load file has none.

    Raises InvalidInputError, naming the exhibit, unless the count is a number from 1 to 100,000.
    """
    named = ((value or "").strip() for name, value in properties.items() if normalise_name(name) in PAGE_COUNTS)
    text = next(filter(None, named), "")
    if not text:
        return 1
    if not _COUNT.fullmatch(text) or int(text) > MAX_PAGES:
        raise InvalidInputError(
            f"The page count of exhibit {exhibit_id} is not a number from 1 to {MAX_PAGES}; number by document instead."
        )
    return int(text)
