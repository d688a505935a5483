"""Timestamps: ISO 8601 with an offset in requests, UTC without a time zone in the database, to the microsecond.

Guaranteed: a timestamp lies in the years 1000 to 9998. The year 9999 stands for an open end.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

# MySQL supports DATETIME values from the year 1000 on.
FIRST_YEAR, LAST_YEAR = 1000, 9998
# Spelled out, because datetime.fromisoformat reads +00:99, and in some versions 24:00, as another time.
_TIME_OF_DAY = "([01][0-9]|2[0-3]):[0-5][0-9]"
TIMESTAMP_PATTERN = (
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_TIME_OF_DAY}(:[0-5][0-9](\.[0-9]{{1,6}})?)?"
    rf"(Z|[+-]{_TIME_OF_DAY})"
)
_EXPECTED = (
    "send an ISO 8601 timestamp with an offset, such as 2026-11-21T15:00:00Z or 2026-11-21T16:00:00+01:00, "
    "with at most six fractional digits"
)


def parse_timestamp(text: str) -> datetime:
    """Return the timestamp in UTC, without a time zone.

    Raises ValueError, with a message that says what to send, if the text is not ISO 8601 with an offset or its year is
    out of range.
    """
    if not re.fullmatch(TIMESTAMP_PATTERN, text, re.ASCII):
        raise ValueError(f"{_EXPECTED} (in a query string, encode + as %2B)" if " " in text else _EXPECTED)
    try:
        timestamp = datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError) as exc:
        raise ValueError(f"this date does not exist; {_EXPECTED}") from exc
    if not FIRST_YEAR <= timestamp.year <= LAST_YEAR:
        raise ValueError(f"send a timestamp between the years {FIRST_YEAR} and {LAST_YEAR} (UTC)")
    return timestamp


def format_timestamp(timestamp: datetime) -> str:
    """Return the timestamp as ISO 8601 in UTC, with microseconds only if they are not zero.

    One without a time zone is in UTC, as the database has it; one that was read from JSON has a time zone.
    """
    in_utc = timestamp if timestamp.tzinfo is None else timestamp.astimezone(UTC).replace(tzinfo=None)
    return f"{in_utc.isoformat()}Z"
