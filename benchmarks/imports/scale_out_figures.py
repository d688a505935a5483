"""Figures of an import by several workers: what a row costs on the server and in the workers, and what they waited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median
from typing import Any

_COUNTED = ("deadlocks", "lock_waits")


@dataclass(frozen=True)
class Figures:
    """The figures of a number of workers, of one round or of several: microseconds and bytes are per row.

    The processors are the average number that was in use. Those of the server are None if it is on another machine.
    """

    rows_per_s: float
    server_us: float | None
    worker_us: float
    server_processors: float | None
    worker_processors: float
    redo_bytes: float
    deadlocks: int
    lock_waits: int

    def format(self) -> list[str]:
        """Return the figures as cells of a table."""
        processors = (self.server_processors, self.worker_processors)
        return [
            f"{self.rows_per_s:,.0f}",
            *("-" if each is None else f"{each:.1f}" for each in (self.server_us, self.worker_us)),
            *("-" if each is None else f"{each:.2f}" for each in processors),
            *(f"{each:,.0f}" for each in (self.redo_bytes, self.deadlocks, self.lock_waits)),
        ]


def combine(rounds: Sequence[Figures]) -> Figures:
    """Return the medians over the rounds, and the totals of the counts."""
    values: dict[str, Any] = {
        each.name: [getattr(figures, each.name) for figures in rounds] for each in fields(Figures)
    }
    return Figures(**{name: _combine(name, each) for name, each in values.items()})


def _combine(name: str, values: Sequence[Any]) -> Any:
    if name in _COUNTED:
        return sum(values)
    return None if None in values else median(values)
