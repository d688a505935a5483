"""Read a Bates number as its prefix and its number, so that a range can be compared whatever the padding.

The number is the last run of digits, which ends the text: `SMITH-0012` is the number 12 of the prefix `SMITH-`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

# More digits do not fit into the integers of the database.
MAX_DIGITS = 18
MAX_LISTED = 20
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
