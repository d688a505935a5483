"""Parse document dates as load files write them, to UTC.

Guaranteed: a string is read as a date only if it denotes exactly one. A two-digit year, an impossible day and a date
before the year 1000 (the first that MySQL can store) give no date, nor does a cell of over MAX_DATE_CHARACTERS. Eight
digits are year, month and day, else a date with the year last. A single cell does not show whether 5/6/2001 or 05062001
is May or June: `detect_date_order` decides the order for the whole column. `parse_date` keeps a date without an offset
unchanged, as if it were UTC; `core.load_file.date_columns` applies time zones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import NamedTuple

from core.timestamps import FIRST_YEAR

# Eight digits, and a ninth character that shows that they are not part of a longer number.
DATE_PREFIX_CHARACTERS = 9
# Without the white space around it. A longer cell is not matched: what is not a date may have any length.
MAX_DATE_CHARACTERS = 64
# Others are wrong dates with the year first: 20101301 is not a day of the year 1301.
_YEARS_OF_DIGITS = range(1800, 2200)

# Possessive: a run of white space is scanned once, whatever follows it.
_TIME = (
    r"(?:[T ]\s*+(?:at )?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,6})\d*)?)?"
    r"\s*+(?P<half>[AaPp]\.?[Mm]\.?)?\s*+(?P<zone>Z|UTC|GMT|Greenwich Mean Time|[+-](?:0\d|1[0-4]):?[0-5]\d)?)?"
)
_WEEKDAY = r"(?i:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_FORMS = tuple(
    re.compile(form + _TIME)
    for form in (
        r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
        r"(?P<first>\d{1,2})[-/.](?P<next>\d{1,2})[-/.](?P<year>\d{4})",
        _WEEKDAY + r"(?P<day>\d{1,2})[ -](?P<name>[A-Za-z]{3,9})\.?,?[ -](?P<year>\d{4})",
        _WEEKDAY + r"(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",
    )
)
# Fast path for the form that most exports write; _FORMS give the same result and take three times as long.
_NUMBERS = re.compile(
    r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})(?: (\d{1,2}):(\d{2})(?::(\d{2}))?(?: ([AaPp])[Mm])?)?", re.ASCII
)
_DIGITS = re.compile(r"\d{8}")
_ZERO = re.compile(
    r"0|(?:0{1,4}[-/.]0{1,2}[-/.]0{1,4}|0{8})(?:[T ](?:[0:.]+|12(?::00){1,2})?\s*(?:[Aa]\.?[Mm]\.?|Z)?)?"
)
_PREFIX = re.compile(r"(\d{1,2})[-/.](\d{1,2})[-/.]")
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
MONTH_NUMBERS = {
    "sept": 9,
    **{spelling: number for number, name in enumerate(_MONTHS, start=1) for spelling in (name, name[:3])},
}


class DateOrder(Enum):
    """The order of day and month in a column of dates; the value is (order, certainty)."""

    MONTH_FIRST = ("MDY", "certain")
    DAY_FIRST = ("DMY", "certain")
    AMBIGUOUS = ("MDY", "ambiguous")
    MIXED = ("MDY", "mixed")

    @property
    def order(self) -> str:
        """DMY or MDY."""
        return self.value[0]


def detect_date_order(prefixes: Iterable[str]) -> DateOrder | None:
    """Return the order that all cells of a column agree on; None if no cell needs one.

    `prefixes` are the first DATE_PREFIX_CHARACTERS characters of the cells. A first number over 12 means day first, a
    second number over 12 means month first; a cell with both is not a date and is ignored. If cells contradict each
    other, also if some write eight digits with the year first and some with the year last, the order is month first,
    and the cells that need the other order are not dates. If no cell shows the order, it is month first, an assumption
    that deserves a warning.
    """
    return combine_orders(map(find_shown_order, prefixes))


class ShownOrder(NamedTuple):
    """The order that a cell shows: DMY, MDY, YMD, "any" for day or month first, None for none."""

    order: str | None
    of_digits: bool

    @property
    def only(self) -> str | None:
        """The order, if the cell can have no other one."""
        return None if self.order == "any" else self.order


def find_shown_order(prefix: str) -> ShownOrder:
    """Return the order that a cell with this beginning shows."""
    text = prefix.rstrip()
    if _DIGITS.fullmatch(text):
        return ShownOrder(_find_order_of_digits(text), True)
    return ShownOrder(_find_order_of_numbers(text), False)


def combine_orders(shown: Iterable[ShownOrder]) -> DateOrder | None:
    """Return what `detect_date_order` returns for cells that show these orders."""
    digits: set[str | None] = set()
    others: set[str | None] = set()
    for each in shown:
        (digits if each.of_digits else others).add(each.order)
    orders = digits | others
    if {"DMY", "MDY"} <= orders or ("YMD" in digits and digits & {"DMY", "MDY", "any"}):
        return DateOrder.MIXED
    if "DMY" in orders:
        return DateOrder.DAY_FIRST
    if "MDY" in orders:
        return DateOrder.MONTH_FIRST
    return DateOrder.AMBIGUOUS if "any" in orders else None


def _find_order_of_numbers(text: str) -> str | None:
    """Return the only order in which the first two numbers are day and month, "any" for both, None for neither."""
    found = _PREFIX.match(text)
    first, second = (int(found[1]), int(found[2])) if found else (0, 0)
    day_first, month_first = 0 < first <= 31 and 0 < second <= 12, 0 < first <= 12 and 0 < second <= 31
    return _name_order(day_first=day_first, month_first=month_first)


def _find_order_of_digits(text: str) -> str | None:
    """Return the only order in which the eight digits are a date, "any" for either with the year last, None for no."""
    if _parse_year_first(text):
        return "YMD"
    day_first, month_first = (_parse_year_last(text, order) is not None for order in ("DMY", "MDY"))
    return _name_order(day_first=day_first, month_first=month_first)


def _name_order(*, day_first: bool, month_first: bool) -> str | None:
    if day_first and month_first:
        return "any"
    return "DMY" if day_first else "MDY" if month_first else None


def is_zero_date(text: str) -> bool:
    """Return whether the text is a zero date such as 00/00/0000 or 0, which programs write for a missing date."""
    return _ZERO.fullmatch(text) is not None


class WrittenDate(NamedTuple):
    """A date as a cell writes it; midnight if it `has_time` not. `offset` is None if the cell states no offset.

    `local` minus the offset is a date that MySQL can store.
    """

    local: datetime
    has_time: bool = False
    offset: timedelta | None = None


def parse_date(text: str, order: str) -> datetime | None:
    """Return the date in UTC, without a time zone; None if the text is not a date. `order` is DMY or MDY."""
    found = read_date(text, order)
    if found is None or not found.offset:
        return found and found.local
    return found.local - found.offset


def read_date(text: str, order: str) -> WrittenDate | None:
    """Return the date as it is written; None if the text is not a date. `order` is DMY or MDY."""
    text = text.strip()
    numbers = _NUMBERS.fullmatch(text)
    if numbers:
        return _parse_numbers(numbers, order)
    return match_date_patterns(text, order)


def read_time(text: str) -> WrittenDate | None:
    """Return the time of day that the text is, as that of any date; None if it is not a time."""
    return match_date_patterns(f"2000-01-01 {text.strip()}", "MDY") if text.strip() else None


def match_date_patterns(text: str, order: str) -> WrittenDate | None:
    """Return what `read_date` returns, without its fast path; the text has no white space around it."""
    if len(text) > MAX_DATE_CHARACTERS:
        return None
    if _DIGITS.fullmatch(text):
        day = _parse_year_first(text) or _parse_year_last(text, order)
        return WrittenDate(day) if day else None
    for form in _FORMS:
        found = form.fullmatch(text)
        if found:
            return _parse_parts(found.groupdict(), order)
    return None


def _parse_numbers(found: re.Match[str], order: str) -> WrittenDate | None:
    first, second, year, hour, minute, seconds, half = found.groups()
    month, day = (second, first) if order == "DMY" else (first, second)
    hour_of_day = _convert_hour(int(hour or 0), half)
    time = (-1 if hour_of_day is None else hour_of_day, int(minute or 0), int(seconds or 0))
    try:
        parsed = datetime(int(year), int(month), int(day), *time)
    except ValueError:
        return None
    return WrittenDate(parsed, hour is not None) if parsed.year >= FIRST_YEAR else None


def _parse_year_first(text: str) -> datetime | None:
    return _build_date(int(text[:4]), int(text[4:6]), int(text[6:]))


def _parse_year_last(text: str, order: str) -> datetime | None:
    first, second, year = int(text[:2]), int(text[2:4]), int(text[4:])
    month, day = (second, first) if order == "DMY" else (first, second)
    return _build_date(year, month, day) if year in _YEARS_OF_DIGITS else None


def _parse_parts(parts: dict[str, str | None], order: str) -> WrittenDate | None:
    day = _parse_day(parts, order)
    if day is None or parts["hour"] is None:
        return WrittenDate(day) if day else None
    hour = _convert_hour(int(parts["hour"]), parts["half"])
    if hour is None:
        return None
    fraction = (parts["fraction"] or "").ljust(6, "0")
    try:
        local = day.replace(
            hour=hour, minute=int(parts["minute"] or 0), second=int(parts["second"] or 0), microsecond=int(fraction)
        )
        offset = _parse_offset(parts["zone"])
        parsed = local - (offset or timedelta())
    except (ValueError, OverflowError):
        return None
    return WrittenDate(local, True, offset) if parsed.year >= FIRST_YEAR else None


def _parse_day(parts: dict[str, str | None], order: str) -> datetime | None:
    year = int(parts["year"] or 0)
    if parts.get("first"):
        first, second = int(parts["first"] or 0), int(parts["next"] or 0)
        month, day = (second, first) if order == "DMY" else (first, second)
        return _build_date(year, month, day)
    name = parts.get("name")
    month = MONTH_NUMBERS.get(name.lower(), 0) if name else int(parts["month"] or 0)
    return _build_date(year, month, int(parts["day"] or 0))


def _build_date(year: int, month: int, day: int) -> datetime | None:
    try:
        return datetime(year, month, day, tzinfo=UTC).replace(tzinfo=None) if year >= FIRST_YEAR else None
    except ValueError:
        return None


def _convert_hour(hour: int, half: str | None) -> int | None:
    """Return the hour of the day from 0; `half` is AM or PM in any spelling. None if the hour does not exist."""
    if half is None:
        return hour
    if not 1 <= hour <= 12:
        return None
    return hour % 12 + (12 if half.lower().startswith("p") else 0)


def _parse_offset(zone: str | None) -> timedelta | None:
    if zone is None or zone[0] not in "+-":
        return None if zone is None else timedelta()
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -offset if zone[0] == "-" else offset
