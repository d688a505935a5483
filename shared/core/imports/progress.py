"""How fast an import is, and how long it will take."""

from __future__ import annotations

from typing import NamedTuple


class Pace(NamedTuple):
    """Rows a second, and the seconds until the last row; None where there is nothing to tell them from."""

    rows_per_second: float | None
    seconds_left: float | None


UNKNOWN = Pace(None, None)


def pace(rows: int, seconds: float, rows_left: int) -> Pace:
    """The pace of an import that has settled so many rows in so many seconds."""
    if rows <= 0 or seconds <= 0:
        return UNKNOWN
    rate = rows / seconds
    return Pace(_rounded(rate), _rounded(max(rows_left, 0) / rate))


def _rounded(value: float) -> float:
    """To four digits, which is more than an estimate is worth."""
    return float(f"{value:.4g}")
