"""Times of custody: a zone is required, because every reader would assume another one."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime


def parse_time(text: str) -> str:
    """Return a time as the API takes it, in UTC; raise argparse.ArgumentTypeError for one without a zone."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as exc:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 2026-11-21T15:00Z") from exc
    if found.tzinfo is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} has no time zone: add one, as in 2026-11-21T15:00Z or 2026-11-21T16:00+01:00"
        )
    try:
        return format_utc(found)
    except OverflowError as exc:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time of the years 1000 to 9998") from exc


def format_utc(time: datetime) -> str:
    """Return a time as the API takes it."""
    return time.astimezone(UTC).isoformat().replace("+00:00", "Z")
