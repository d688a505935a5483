"""Find dates that a document can hardly have."""

from __future__ import annotations

from datetime import datetime, timedelta

from core.checks.findings import Finding, warn
from core.codes import CheckCode

# A date without an offset is that of some zone; the first of them is 14 hours ahead of UTC.
FIRST_ZONE = timedelta(hours=14)
FIRST_YEAR = 1970


def check_date(value: datetime, now: datetime, line: int, column: str, control_number: str) -> Finding | None:
    """Return the finding of a date in the future or before 1970; both times are in UTC, without a time zone."""
    if value.year < FIRST_YEAR:
        message = f"Line {line}: {value:%Y-%m-%d} is before {FIRST_YEAR}. Compare it with the document."
        return warn(CheckCode.DATE_BEFORE_1970, line, column, message, control_number)
    if value > now + FIRST_ZONE:
        message = f"Line {line}: {value:%Y-%m-%d} is in the future. Compare it with the document."
        return warn(CheckCode.DATE_FUTURE, line, column, message, control_number)
    return None
