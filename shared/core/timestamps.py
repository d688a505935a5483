"""Moments as clients write them, ISO 8601 with an offset, and as they are kept: UTC without a zone, to the microsecond.

The last year is no year of a moment: what has no end is kept with an end there.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

# What a DATETIME column promises to hold begins with the year 1000.
FIRST_YEAR, LAST_YEAR = 1000, 9998
# Spelled out, for Python's own reader takes +00:99, and in some versions 24:00, for other moments.
_TIME_OF_DAY = "([01][0-9]|2[0-3]):[0-5][0-9]"
MOMENT = (
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_TIME_OF_DAY}(:[0-5][0-9](\.[0-9]{{1,6}})?)?"
    rf"(Z|[+-]{_TIME_OF_DAY})"
)
_HOW = "write a moment as 2026-11-21T15:00:00Z or 2026-11-21T16:00:00+01:00, with at most six digits of a second"


def parse_moment(text: str) -> datetime:
    """The moment in UTC; raises ValueError, saying what to write, for anything but ISO 8601 with an offset."""
    if not re.fullmatch(MOMENT, text, re.ASCII):
        raise ValueError(f"{_HOW} (in a query string a plus is %2B)" if " " in text else _HOW)
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError) as exc:
        raise ValueError(f"there is no such moment; {_HOW}") from exc
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"moments from the year {FIRST_YEAR} to {LAST_YEAR} (UTC) can be recorded")
    return moment


def written(moment: datetime) -> str:
    """The moment as ISO 8601 in UTC; microseconds only where there are any."""
    return f"{moment.isoformat()}Z"
