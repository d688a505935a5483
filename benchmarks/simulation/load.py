"""The uploads of many tenants in a month, the same for the same seed.

The shape is assumed, as no stack has been in use yet: how many files a tenant uploads differs by its heavy-tailed
weight; most files are small, some are very large, and people work by day.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from benchmarks.simulation.cell import Upload

HOUR_S = 3_600.0
# The hours of a month, as in docs/operations.md.
MONTH_S = 730 * HOUR_S
SMALL_ROWS, LARGEST_ROWS = 10_000, 100_000_000
# Half of the usual files have fewer rows; 88 of 100 of them are small.
_MEDIAN_ROWS, _SPREAD = 1_500, 1.6
_WEIGHT_SPREAD = 1.5
# The share of files in the tail, from _TAIL_ROWS to LARGEST_ROWS, and its exponent; and of the largest of all.
_TAIL_SHARE, _TAIL_ROWS, _TAIL_EXPONENT, _LARGEST_SHARE = 0.03, 100_000, 0.6, 0.0005
_DAYTIME_SHARE, _DAY_BEGINS, _DAY_ENDS = 0.85, 8, 18


@dataclass(frozen=True)
class Load:
    """So many tenants, and the number of files that each of them uploads in a month, on average."""

    tenants: int = 1_000
    files: int = 20
    seconds: float = MONTH_S
    seed: int = 1

    def make_uploads(self) -> list[Upload]:
        """Return the uploads in the order of their times."""
        random = Random(self.seed)
        weights = [random.lognormvariate(0, _WEIGHT_SPREAD) for _ in range(self.tenants)]
        tenants = random.choices(range(self.tenants), weights, k=round(self.tenants * self.files))
        uploads = [Upload(self._draw_time(random), f"t{tenant}", _draw_rows(random)) for tenant in tenants]
        return sorted(uploads, key=lambda upload: upload.at)

    def _draw_time(self, random: Random) -> float:
        """Return a time of the month, mostly on a weekday by day; the month begins on a Monday."""
        by_day = random.random() < _DAYTIME_SHARE
        while True:
            at = random.uniform(0, self.seconds)
            hour, weekday = at / HOUR_S % 24, at // (24 * HOUR_S) % 7
            if not by_day or (weekday < 5 and _DAY_BEGINS <= hour < _DAY_ENDS):
                return at


def _draw_rows(random: Random) -> int:
    share = random.random()
    if share < _LARGEST_SHARE:
        return LARGEST_ROWS
    if share < _TAIL_SHARE:
        return min(LARGEST_ROWS, int(_TAIL_ROWS * random.paretovariate(_TAIL_EXPONENT)))
    return max(1, min(LARGEST_ROWS, int(random.lognormvariate(0, _SPREAD) * _MEDIAN_ROWS)))
