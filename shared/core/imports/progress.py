"""The speed of an import and its remaining time."""

from __future__ import annotations

from typing import NamedTuple


class Pace(NamedTuple):
    """Rows a second, and the estimated seconds until the last row; None while neither can be estimated."""

    rows_per_second: float | None
    seconds_left: float | None


UNKNOWN_PACE = Pace(None, None)


def compute_pace(rows: int, seconds: float, rows_left: int) -> Pace:
    """Return the pace of an import that processed `rows` rows in `seconds` seconds and has `rows_left` to process."""
    if rows <= 0 or seconds <= 0:
        return UNKNOWN_PACE
    rate = rows / seconds
    return Pace(_round(rate), _round(max(rows_left, 0) / rate))


def _round(value: float) -> float:
    """Round to four significant digits."""
    return float(f"{value:.4g}")
