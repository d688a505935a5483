"""What cells of date columns hold that is not the date of a document: words for nothing, and dates that stand for none.

Guaranteed: a text is a word for nothing only as a whole, in any case. Placeholders are dates and are stored as such; to
name them is all that is done with them.
"""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum

from core.dates.written_dates import is_zero_date

_NOTHING = frozenset(
    (
        *("n/a", "na", "n.a.", "#n/a", "null", "(null)", "[null]", "<null>", "\\n", "none", "(none)", "nil", "nat"),
        *("-", "--", "---", "unknown", "undated", "no date", "not available", "not applicable"),
    )
)
_LONGEST = max(map(len, _NOTHING))
# The zero of the dates of Excel, OLE and Windows, and what is written in a column that must not be blank.
PLACEHOLDERS = frozenset(
    (date(1601, 1, 1), date(1899, 12, 30), date(1899, 12, 31), date(1900, 1, 1), date(9999, 9, 9), date(9999, 12, 31))
)
# No placeholder is in a year between these.
LATEST_ZERO, FIRST_END = 1900, 9999
_MONTH_ONLY = re.compile(r"[A-Za-z]{3,9}\.?,?[ -]'?\d{2,4}|\d{1,2}[-/.]\d{4}|\d{4}[-/.]\d{1,2}", re.ASCII)
_DAY_NUMBER = re.compile(r"[1-9]\d{4}(?:\.\d{1,15})?", re.ASCII)


class DateNote(StrEnum):
    """What is worth being said of a date once for its column."""

    NOTHING = "nothing"
    PLACEHOLDER = "placeholder"
    SHORT_YEAR = "short_year"


def is_no_date(text: str) -> bool:
    """Return whether a text without spaces around it says that there is no date: N/A, NULL, none, 00/00/0000."""
    return (len(text) <= _LONGEST and text.casefold() in _NOTHING) or is_zero_date(text)


def advise(text: str, field: str) -> str:
    """Return what to do about a text that is not a date of a field."""
    if _MONTH_ONLY.fullmatch(text):
        return "A month without a day is not a date: add the day."
    if _DAY_NUMBER.fullmatch(text):
        return f'If it is a day number of Excel, set option \'date_format\' to {{"{field}": "excel"}}.'
    return f'Correct it, or state how the dates are written: option \'date_format\', {{"{field}": "%d.%m.%Y"}}.'
