"""Read dates in a format that the uploader states: option `date_format`, with the letters of C's strptime.

Guaranteed: a cell is a date only if it has the whole format and nothing else; a run of white space stands for any other
one. A format has a year, a month and a day, so that it denotes one date. The letters are %Y %y %m %b %B %d %H %I %M %S
%f %p %z %Z %a %A %% with English names; a number that touches no other one may
lack its leading zero. %y is 1950 to 2049, %Z a name of RFC 5322.
EXCEL instead of a format: the days since 1899-12-30, with a fraction for the time, as Excel for Windows counts them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import lru_cache

from core.codes import FileFailure
from core.dates.notations import PIVOT, ZONES
from core.dates.written_dates import MAX_DATE_CHARACTERS, MONTH_NUMBERS, WrittenDate
from core.errors import FileRefusedError
from core.exhibit_dates import DATE_FIELDS
from core.timestamps import FIRST_YEAR

EXCEL = "excel"
# The version of the rules for dates without a stated format; 1 did not know `core.dates.notations`.
DATE_RULES = 2
MAX_FORMAT_CHARACTERS = 64
_PARTS = {
    "Y": r"(?P<year>\d{4})",
    "y": r"(?P<short>\d{2})",
    "m": r"(?P<month>\d{1,2})",
    "b": r"(?P<name>[A-Za-z]{3,9})\.?",
    "d": r"(?P<day>\d{1,2})",
    "H": r"(?P<hour>\d{1,2})",
    "I": r"(?P<half_hour>\d{1,2})",
    "M": r"(?P<minute>\d{1,2})",
    "S": r"(?P<second>\d{1,2})",
    "f": r"(?P<fraction>\d{1,6})\d*+",
    "p": r"(?P<half>[AaPp])\.?[Mm]\.?",
    "z": r"(?P<offset>Z|[+-]\d{2}:?\d{2})",
    "Z": rf"(?P<zone>GMT|UTC|Z|{'|'.join(ZONES)})",
    "a": r"(?i:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}+)\.?",
}
_SAME = {"B": "b", "A": "a"}
_NUMBERS = frozenset("YymdHIMSf")
_TOKEN = re.compile(r"%(.)|(\s+)|([^%\s])", re.DOTALL)
# From 1900-03-01: before it Excel has a 29 February 1900, and a small number is hardly a date. To 9999-12-31.
_DAYS = range(61, 2_958_466)
_NUMBER = re.compile(r"(\d{1,7})(\.\d{1,15})?", re.ASCII)
_EPOCH = datetime(1899, 12, 30)


def parse_date_formats(given: object) -> dict[str, str]:
    """Return the option `date_format`; raise FileRefusedError (BAD_OPTIONS) if it is not one."""
    if given is None:
        return {}
    example = '{"date_sent": "%d.%m.%Y"}'
    if not isinstance(given, Mapping) or not all(isinstance(form, str) for form in given.values()):
        raise _refuse(f"must be an object that names a format for fields of dates, such as {example}")
    unknown = next((str(date)[:100] for date in given if date not in DATE_FIELDS), None)
    if unknown is not None:
        raise _refuse(f"names {unknown!r}. The fields of dates are {', '.join(DATE_FIELDS)}")
    for date, form in given.items():
        reason = explain_bad_format(form)
        if reason:
            raise _refuse(f"for {date} is {ascii(form)[:100]}, which {reason}; or use {EXCEL}")
    return {str(date): form for date, form in given.items()}


def _refuse(message: str) -> FileRefusedError:
    return FileRefusedError(FileFailure.BAD_OPTIONS, f"Option 'date_format' {message}.")


def explain_bad_format(text: str) -> str | None:
    """Return why a text is not a format of dates; None if it is one."""
    if text == EXCEL:
        return None
    if not 0 < len(text) <= MAX_FORMAT_CHARACTERS:
        return f"must have 1 to {MAX_FORMAT_CHARACTERS} characters"
    letters = [_SAME.get(letter, letter) for letter in _list_letters(text)]
    unknown = next((letter for letter in letters if letter not in _PARTS and letter != "%"), None)
    if unknown is not None or text.count("%") != len(letters) + letters.count("%"):
        return f"has %{unknown or ''}; the letters are {', '.join(f'%{each}' for each in (*_PARTS, *_SAME))} and %%"
    return _find_contradiction([letter for letter in letters if letter != "%"])


def _list_letters(text: str) -> list[str]:
    return [found[1] for found in _TOKEN.finditer(text) if found[1]]


def _find_contradiction(letters: list[str]) -> str | None:
    for name, choices in (("year (%Y or %y)", "Yy"), ("month (%m or %b)", "mb"), ("day (%d)", "d")):
        if sum(letter in choices for letter in letters) != 1:
            return f"must have one {name}: only a year, a month and a day are a date"
    if len(set(letters)) < len(letters) or {"H", "I"} <= set(letters) or {"z", "Z"} <= set(letters):
        return "states the same part twice"
    if ("I" in letters) != ("p" in letters):
        return "must have %I and %p, or %H: an hour up to 12 needs AM or PM"
    has_hour = not {"H", "I"}.isdisjoint(letters)
    if not has_hour and not {"M", "S", "f", "z", "Z"}.isdisjoint(letters):
        return "has a part of a time without an hour (%H, or %I and %p)"
    return None


def read_format(text: str, form: str) -> WrittenDate | None:
    """Return the date that the text is in a format without `explain_bad_format`; None if it is not one."""
    text = text.strip()
    if len(text) > MAX_DATE_CHARACTERS:
        return None
    if form == EXCEL:
        return _read_excel(text)
    found = _compile(form).fullmatch(text)
    return _build(found.groupdict()) if found else None


@lru_cache(maxsize=100)
def _compile(form: str) -> re.Pattern[str]:
    tokens = [found.groups() for found in _TOKEN.finditer(form.strip())]
    letters = [None, *(_SAME.get(letter, letter) for letter, _, _ in tokens), None]
    parts = [
        _translate(letter, *others[1:], is_joined=bool(letter) and not _NUMBERS.isdisjoint({before, after}))
        for (before, letter, after), others in zip(
            zip(letters, letters[1:], letters[2:], strict=False), tokens, strict=True
        )
    ]
    return re.compile("".join(parts), re.ASCII)


def _translate(letter: str | None, space: str | None, sign: str | None, *, is_joined: bool) -> str:
    """Return the pattern of a token; a number that touches another one has all of its digits."""
    if letter == "%":
        return "%"
    if letter:
        return _PARTS[letter].replace("{1,2}", "{2}") if is_joined else _PARTS[letter]
    return r"\s++" if space else re.escape(sign or "")


def _build(parts: dict[str, str | None]) -> WrittenDate | None:
    hour = _find_hour(parts)
    try:
        local = datetime(
            *(_find_year(parts), _find_month(parts), int(parts["day"] or 0)),
            *(hour or 0, int(parts.get("minute") or 0), int(parts.get("second") or 0)),
            int((parts.get("fraction") or "").ljust(6, "0")),
        )
        offset = _find_offset(parts)
        has_year = (local - (offset or timedelta())).year >= FIRST_YEAR
    except (ValueError, OverflowError):
        return None
    return WrittenDate(local, hour is not None, offset) if has_year else None


def _find_year(parts: dict[str, str | None]) -> int:
    short = parts.get("short")
    if short:
        return int(short) + (1900 if int(short) >= PIVOT else 2000)
    return int(parts["year"] or 0)


def _find_month(parts: dict[str, str | None]) -> int:
    name = parts.get("name")
    return MONTH_NUMBERS.get(name.lower(), 0) if name else int(parts["month"] or 0)


def _find_hour(parts: dict[str, str | None]) -> int | None:
    """Return the hour of the day; None without one, -1 for one that does not exist."""
    half = parts.get("half_hour")
    if half is None:
        return None if parts.get("hour") is None else int(parts["hour"] or 0)
    is_pm = (parts["half"] or "").lower() == "p"
    return int(half) % 12 + (12 if is_pm else 0) if 1 <= int(half) <= 12 else -1


def _find_offset(parts: dict[str, str | None]) -> timedelta | None:
    zone = parts.get("zone")
    offset = ZONES.get(zone, "+00:00") if zone else parts.get("offset")
    if offset is None or offset == "Z":
        return timedelta() if offset else None
    digits = offset[1:].replace(":", "")
    found = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    if int(digits[2:]) > 59 or found > timedelta(hours=14):
        raise ValueError
    return -found if offset[0] == "-" else found


def _read_excel(text: str) -> WrittenDate | None:
    found = _NUMBER.fullmatch(text)
    if found is None or int(found[1]) not in _DAYS:
        return None
    # A day has 86,400 seconds; Excel's fractions are rounded to 15 digits of the whole number.
    seconds = round(float(found[2] or 0) * 86_400)
    try:
        return WrittenDate(_EPOCH + timedelta(days=int(found[1]), seconds=seconds), seconds > 0)
    except OverflowError:
        return None
