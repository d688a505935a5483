"""Document dates as load files write them, to UTC.

Guaranteed: a text gives a date only if it names exactly one; a two-digit year, an impossible day or a date before the
year 1000 (the first that MySQL can hold) gives none. Whether 5/6/2001 is May or June cannot be seen from one cell: the
order is settled for the whole column by `order_of`.
A date without an offset is taken as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import Enum

from core.moments import FIRST_YEAR

EVIDENCE_CHARACTERS = 6

_TIME = (
    r"(?:[T ]\s*(?:at )?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,6})\d*)?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|GMT|Greenwich Mean Time|[+-](?:0\d|1[0-4]):?[0-5]\d)?)?"
)
_WEEKDAY = r"(?i:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_FORMS = tuple(
    re.compile(form + _TIME)
    for form in (
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
        r"(?P<first>\d{1,2})[-/.](?P<then>\d{1,2})[-/.](?P<year>\d{4})",
        _WEEKDAY + r"(?P<day>\d{1,2})[ -](?P<name>[A-Za-z]{3,9})\.?,?[ -](?P<year>\d{4})",
        _WEEKDAY + r"(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
    )
)
# As most exports write a date; the forms say the same of it, and take three times as long.
_NUMBERS = re.compile(
    r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?(?: ([AaPp])[Mm])?)?", re.ASCII
)
_DIGITS = re.compile(r"\d{8}")
_ZERO = re.compile(r"(?:0{1,4}[-/.]0{1,2}[-/.]0{1,4}|0{8})(?:[T ][0:.]*)?")
_EVIDENCE = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.]")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)


class DateOrder(Enum):
    """What the dates of a column say about day and month; the value is (order, how sure)."""

    MONTH_FIRST = ("MDY", "certain")
    DAY_FIRST = ("DMY", "certain")
    AMBIGUOUS = ("MDY", "ambiguous")
    MIXED = ("MDY", "mixed")

    @property
    def order(self) -> str:
        """DMY or MDY."""
        return self.value[0]


def order_of(beginnings: Iterable[str]) -> DateOrder | None:
    """The order that the first six characters of all cells agree on; None if no cell needs one.

    A first number over 12 anywhere means day first, a second one month first; a cell where both are is no date and says
    nothing. Some cells one and some the other: month first, and the misfits are no dates. Neither anywhere: month
    first, a guess that deserves a warning.
    """
    day_first = month_first = needed = False
    for beginning in beginnings:
        found = _EVIDENCE.match(beginning)
        if found and 0 < int(found[1]) <= 31 and 0 < int(found[2]) <= 31:
            needed = True
            first, then = int(found[1]) > 12, int(found[2]) > 12
            day_first, month_first = day_first or (first and not then), month_first or (then and not first)
    if not needed:
        return None
    if day_first:
        return DateOrder.MIXED if month_first else DateOrder.DAY_FIRST
    return DateOrder.MONTH_FIRST if month_first else DateOrder.AMBIGUOUS


def is_zero(text: str) -> bool:
    """Whether the text is a program's way of writing that there is no date: 00/00/0000."""
    return _ZERO.fullmatch(text) is not None


def parse_date(text: str, order: str) -> datetime | None:
    """The moment in UTC, without a zone; None if the text is no date. `order` is DMY or MDY."""
    text = text.strip()
    numbers = _NUMBERS.fullmatch(text)
    if numbers:
        return _from_numbers(numbers, order)
    return parse_written_date(text, order)


def parse_written_date(text: str, order: str) -> datetime | None:
    """The same of a text without spaces around it, by all the forms in turn."""
    if _DIGITS.fullmatch(text):
        return _from_digits(text, order)
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            return _moment(found.groupdict(), order)
    return None


def _from_numbers(found: re.Match[str], order: str) -> datetime | None:
    first, then, year, hour, minute, second, half = found.groups()
    month, day = (then, first) if order == "DMY" else (first, then)
    of_24 = _hour(int(hour or 0), half)
    clock = (-1 if of_24 is None else of_24, int(minute or 0), int(second or 0))
    try:
        moment = datetime(int(year), int(month), int(day), *clock, tzinfo=UTC)
    except ValueError:
        return None
    return moment.replace(tzinfo=None) if moment.year >= FIRST_YEAR else None


def _from_digits(text: str, order: str) -> datetime | None:
    """Eight digits are year, month, day; where they cannot be, the year stands last."""
    year_first = _day(int(text[:4]), int(text[4:6]), int(text[6:]))
    if year_first:
        return year_first
    first, then = int(text[:2]), int(text[2:4])
    month, day = (then, first) if order == "DMY" else (first, then)
    return _day(int(text[4:]), month, day)


def _moment(parts: dict[str, str | None], order: str) -> datetime | None:
    day = _date_of(parts, order)
    if day is None or parts["hour"] is None:
        return day
    hour = _hour(int(parts["hour"]), parts["half"])
    if hour is None:
        return None
    fraction = (parts["fraction"] or "").ljust(6, "0")
    try:
        local = day.replace(
            hour=hour, minute=int(parts["minute"] or 0), second=int(parts["second"] or 0), microsecond=int(fraction)
        )
        moment = local - _offset(parts["zone"])
    except (ValueError, OverflowError):
        return None
    return moment if moment.year >= FIRST_YEAR else None


def _date_of(parts: dict[str, str | None], order: str) -> datetime | None:
    year = int(parts["year"] or 0)
    if parts.get("first"):
        first, then = int(parts["first"] or 0), int(parts["then"] or 0)
        month, day = (then, first) if order == "DMY" else (first, then)
        return _day(year, month, day)
    month = _month(parts["name"] or "") if "name" in parts else int(parts["month"] or 0)
    return _day(year, month, int(parts["day"] or 0))


def _day(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC).replace(tzinfo=None) if year >= FIRST_YEAR else None
    except ValueError:
        return None


def _month(name: str) -> int:
    lowered = name.lower()
    if lowered in _MONTH_NAMES:
        return _MONTH_NAMES.index(lowered) + 1
    return _MONTHS.index(lowered) + 1 if lowered in _MONTHS else 9 if lowered == "sept" else 0


def _hour(hour: int, half: str | None) -> int | None:
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        return None
    return hour % 12 + (12 if half.lower().startswith("p") else 0)


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone[0] not in "+-":
        return timedelta()
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if zone[0] == "-" else offset
