"""Parse the notations of dates that `core.dates.written_dates` does not, and that still denote exactly one date.

Guaranteed: it is asked only for texts that `read_date` of that module does not read, so that a date which earlier
versions stored never becomes another one. Zone names are those of RFC 5322, section 4.3, with its offsets; a comment
after an offset has no meaning (section 3.2.2). Years of two digits are 1950 to 2049, as in section 4.3.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from core.dates.written_dates import MAX_DATE_CHARACTERS, WrittenDate, read_date

# A year of two digits from here on is one of the 20th century: RFC 5322, section 4.3.
PIVOT = 50
# As in `core.dates.written_dates`: other numbers are not years.
_YEARS_OF_DIGITS = range(1800, 2200)
ZONES = {
    "UT": "+00:00",
    "EST": "-05:00",
    "EDT": "-04:00",
    "CST": "-06:00",
    "CDT": "-05:00",
    "MST": "-07:00",
    "MDT": "-06:00",
    "PST": "-08:00",
    "PDT": "-07:00",
}
_COMMENT = re.compile(r"(?P<before>[^()]+)\((?P<comment>[^()]*)\)")
_GMT_OFFSET = r"(?:GMT|UTC) ?(?P<sign>[+-])(?P<hour>\d{1,2})(?::?(?P<minute>\d{2}))?"
# "(GMT-05:00) Eastern Time (US & Canada)", as Windows lists its zones, and GMT-0500, as JavaScript writes it.
_LISTED_OFFSET = re.compile(rf"(?P<before>[^(]*+)\({_GMT_OFFSET}\).*", re.ASCII)
_NAMED_OFFSET = re.compile(rf"(?P<before>[^(]*?){_GMT_OFFSET}", re.ASCII)
_OFFSET_AT_END = re.compile(r"\d ?(?:[AaPp]\.?[Mm]\.? ?)?(?:Z|UTC|GMT|[+-]\d\d:?\d\d)$")
_ZONE_NAME = re.compile(rf"(?P<before>.*[\dMm.]) ?(?P<name>{'|'.join(ZONES)})")
_FOURTEEN = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?P<rest>[.Z+-].*)?", re.ASCII)
_EIGHT = re.compile(r"(?P<day>\d{8})[T ]\s*+(?P<time>\d.*)", re.ASCII)
_DIGIT_TIME = re.compile(r"(?P<hour>\d\d)(?P<minute>\d\d)(?P<second>\d\d)?(?P<rest>\D.*)?", re.ASCII)
_WEEKDAY = re.compile(r"(?i:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6}+)\.?,?\s++(?=\d{1,4}[-/.]\d)")
_COMMA = re.compile(r"(?P<day>\d{1,4}[-/.]\d{1,2}[-/.]\d{2,4}),\s*+(?=\d)", re.ASCII)
# The form of C's asctime, with or without a zone: Mon May 21 15:00:00 EST 2001.
_YEAR_LAST = re.compile(
    r"(?:[A-Za-z]{3,9},? )?(?P<month>[A-Za-z]{3,9}) {1,2}(?P<day>\d{1,2}) (?P<time>\d{1,2}:\d\d(?::\d\d)?)"
    r"(?P<zone> [A-Z]{1,3}| [+-]\d{4})? (?P<year>\d{4})"
)
_SHORT_YEAR = re.compile(
    r"(?P<before>\d{1,2}[-/.]\d{1,2}[-/.]"
    r"|(?:[A-Za-z]{3,9}\.?,? )?(?:\d{1,2}[ -][A-Za-z]{3,9}\.?,?[ -]|[A-Za-z]{3,9}\.? \d{1,2}, ?))"
    r"'?(?P<year>\d{2})(?P<rest>[T ].*)?",
    re.ASCII,
)


class Notation(NamedTuple):
    """A date in another notation, and whether its year was written with two digits."""

    date: WrittenDate
    has_short_year: bool = False


def read_notation(text: str, order: str) -> Notation | None:
    """Return the date; None if the text is not a date. `order` is DMY or MDY."""
    text = text.strip()
    if len(text) > MAX_DATE_CHARACTERS:
        return None
    plain = _rewrite_digits(_rewrite_signs(_rewrite_zone(text)))
    expanded = _expand_year(plain)
    rewritten = plain if expanded is None else expanded
    found = read_date(rewritten, order) if rewritten != text else None
    return found and Notation(found, expanded is not None)


def read_time_notation(text: str) -> WrittenDate | None:
    """Return the time of day, as that of any date; None if the text is not a time."""
    found = read_notation(f"2000-01-01 {text.strip()}", "MDY") if text.strip() else None
    return found and found.date


def _rewrite_zone(text: str) -> str:
    """Return the text with its zone as an offset: of a name, of GMT-05:00, or without the comment after an offset."""
    comment = _COMMENT.fullmatch(text)
    if comment:
        before = comment["before"].rstrip()
        plain = _name_offset(before)
        if plain != before or _OFFSET_AT_END.search(before):
            return plain
        # Without an offset, the comment may state it: "(EST)". Others say nothing of it.
        stated = f"{before} {comment['comment'].strip()}"
        return _name_offset(stated) if _OFFSET_AT_END.search(_name_offset(stated)) else text
    return _name_offset(text)


def _name_offset(text: str) -> str:
    named = _LISTED_OFFSET.fullmatch(text) or _NAMED_OFFSET.fullmatch(text)
    if named and named["before"].strip():
        return f"{named['before'].rstrip()} {named['sign']}{int(named['hour']):02}:{named['minute'] or '00'}"
    zone = _ZONE_NAME.fullmatch(text)
    return f"{zone['before'].rstrip()} {ZONES[zone['name']]}" if zone else text


def _rewrite_signs(text: str) -> str:
    """Return the text without the weekday before numbers and the comma before a time, and with its year in place."""
    text = _COMMA.sub(r"\g<day> ", _WEEKDAY.sub("", text, count=1), count=1)
    last = _YEAR_LAST.fullmatch(text)
    if last is None:
        return text
    zone = (last["zone"] or "").strip()
    return f"{last['month']} {last['day']} {last['year']} {last['time']} {ZONES.get(zone, zone)}".rstrip()


def _rewrite_digits(text: str) -> str:
    """Return 20010521150000, 20010521T150000Z or 20010521 15:00 with signs between its numbers."""
    whole = _FOURTEEN.fullmatch(text)
    if whole:
        year, month, number, *parts = whole.groups()[:6]
        in_use = int(year) in _YEARS_OF_DIGITS
        return f"{year}-{month}-{number} {':'.join(parts)}{whole['rest'] or ''}" if in_use else text
    found = _EIGHT.fullmatch(text)
    day = found and _write_day(found["day"])
    if found is None or day is None:
        return text
    time, digits = found["time"], _DIGIT_TIME.fullmatch(found["time"])
    if digits:
        time = ":".join(filter(None, (digits["hour"], digits["minute"], digits["second"]))) + (digits["rest"] or "")
    return f"{day} {time}"


def _write_day(digits: str) -> str | None:
    """Return eight digits with signs: with the year first if that is a date, else with the year last, if it is one."""
    year_first = f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"
    if int(digits[:4]) in _YEARS_OF_DIGITS and read_date(year_first, "MDY"):
        return year_first
    return f"{digits[:2]}/{digits[2:4]}/{digits[4:]}" if int(digits[4:]) in _YEARS_OF_DIGITS else None


def _expand_year(text: str) -> str | None:
    """Return the text with four digits for its year; None if its year does not have two."""
    found = _SHORT_YEAR.fullmatch(text)
    if found is None:
        return None
    century = "19" if int(found["year"]) >= PIVOT else "20"
    return f"{found['before']}{century}{found['year']}{found['rest'] or ''}"
