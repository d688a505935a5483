"""The dates of an exhibit, and how precise each of them is.

Guaranteed: `format_date` writes what a load file's reader takes for the same date of the same precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, time
from enum import StrEnum

# Without a column of its own, the document date is the first of the others that a row has, in this order.
EVENT_DATES = ("date_sent", "date_received", "date_created", "date_modified")
DATE_FIELDS = ("document_date", *EVENT_DATES)
_MIDNIGHT = time()


class Precision(StrEnum):
    """How precise a stored date is: its letter in `exhibits.date_precision`."""

    NONE = "-"
    DAY = "D"
    TIME = "T"
    UTC_TIME = "U"


_DESCRIPTIONS = {Precision.DAY: "day", Precision.TIME: "time", Precision.UTC_TIME: "utc_time"}
# The precisions of a row without dates.
NO_PRECISIONS = Precision.NONE * len(DATE_FIELDS)


def describe_precisions(letters: str | None) -> dict[str, str]:
    """Return the precisions in `exhibits.date_precision` by field: day, time or utc_time; without those not known."""
    found = {date: Precision(letter) for date, letter in zip(DATE_FIELDS, letters or "", strict=False)}
    return {date: _DESCRIPTIONS[precision] for date, precision in found.items() if precision in _DESCRIPTIONS}


def change_precisions(letters: str | None, changes: Mapping[str, Precision]) -> str | None:
    """Return the precisions with those of some fields changed; None if none is left."""
    known = dict(zip(DATE_FIELDS, letters or NO_PRECISIONS, strict=True))
    changed = "".join(changes.get(date, Precision(known[date])) for date in DATE_FIELDS)
    return None if changed == NO_PRECISIONS else changed


def format_date(value: datetime | None, letters: str | None, date: str) -> str:
    """Return a stored date as ISO 8601 with the precision of its field, which a reader takes for the same date."""
    precision = describe_precisions(letters).get(date)
    if value is None:
        return ""
    if precision == "day" and value.time() == _MIDNIGHT:
        return value.date().isoformat()
    return value.isoformat() + ("Z" if precision == "utc_time" else "")
