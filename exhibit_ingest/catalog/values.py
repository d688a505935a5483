"""Values of documents as people read them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from exhibit_ingest.printable import shorten_printable

_QUOTED = 80
_DATE = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d+))?")


def format_date(value: str | None, precision: str | None = None) -> str:
    """Return a date of a document: a day where it is one, else with its time to the second, as spreadsheets read it.

    `precision` is that of the API. A date at midnight whose precision is not known is a day.
    """
    found = _DATE.fullmatch(value or "")
    if found is None:
        return value or ""
    day, time, _ = found.groups()
    if precision == "day" or (precision is None and time == "00:00:00"):
        return day
    return f"{day} {time}"


def format_time(value: str | None) -> str:
    """Return a time of the API, which is in UTC, to the minute."""
    return (value or "")[:16].replace("T", " ")


def quote(text: str) -> str:
    """Return a name or number for a message: printable, shortened, and not escaped, so that it can be pasted."""
    return f"'{shorten_printable(text, _QUOTED)}'"


def format_names(names: Iterable[str]) -> str:
    """Return names as one text."""
    return "; ".join(names)
