"""Figures of workers that import one file together: medians over the rounds, totals of what was counted, ratios."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from statistics import median
from typing import Any, NamedTuple

from benchmarks.database import Database
from benchmarks.imports.contending import Work
from benchmarks.telling import percentile_ms
from benchmarks.telling import table as markdown

_MEASURED = ("rows_per_s", "p50_ms", "p99_ms")
_COUNTED = ("deadlocks", "lock_waits", "lock_wait_ms", "retries", "redelivered")


class Side(StrEnum):
    """Who imports."""

    OURS = "ours"
    PATTERN = "pattern"


class Counters(NamedTuple):
    """What the server counts, for all who use it."""

    deadlocks: int
    lock_waits: int
    lock_wait_ms: int

    @classmethod
    def of(cls, database: Database) -> Counters:
        """As they stand."""
        status = {name: int(value) for name, value in database.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_%'")}
        return cls(database.deadlocks(), status["Innodb_row_lock_waits"], status["Innodb_row_lock_time"])

    def since(self, before: Counters) -> Counters:
        """What was added."""
        return Counters(*(now - then for now, then in zip(self, before, strict=True)))


@dataclass(frozen=True)
class Figures:
    """Of one side with so many workers, in one round or in several."""

    rows_per_s: float
    p50_ms: float
    p99_ms: float
    deadlocks: int
    lock_waits: int
    lock_wait_ms: int
    retries: int
    redelivered: int

    @classmethod
    def of(cls, rows: int, works: Sequence[Work], counted: Counters) -> Figures:
        """Of workers that imported so many rows together."""
        chunks = sorted(each for work in works for each in work.chunks_s)
        return cls(
            rows / (max(work.ended for work in works) - min(work.began for work in works)),
            percentile_ms(chunks, 0.5),
            percentile_ms(chunks, 0.99),
            *counted,
            retries=sum(work.retries for work in works),
            redelivered=sum(work.redelivered for work in works),
        )

    @classmethod
    def together(cls, rounds: Sequence[Figures]) -> Figures:
        """Their medians, and the totals of what was counted."""
        values: dict[str, Any] = {name: median(getattr(each, name) for each in rounds) for name in _MEASURED}
        return cls(**values, **{name: sum(getattr(each, name) for each in rounds) for name in _COUNTED})


Rounds = Mapping[tuple[int, Side], Sequence[Figures]]
_SHOWN: dict[str, Callable[[Figures], str]] = {
    "p50 ms": lambda each: f"{each.p50_ms:.0f}",
    "p99 ms": lambda each: f"{each.p99_ms:.0f}",
    "deadlocks": lambda each: str(each.deadlocks),
    "lock waits": lambda each: str(each.lock_waits),
    "waited, s": lambda each: f"{each.lock_wait_ms / 1000:.1f}",
    "retries": lambda each: str(each.retries),
    "redelivered": lambda each: str(each.redelivered),
}


def ratio(rounds: Rounds, above: tuple[int, Side], below: tuple[int, Side]) -> float:
    """Of rows a second: the median of the rounds' own ratios, for a machine is not as fast all the time."""
    pairs = zip(rounds[above], rounds[below], strict=True)
    return round(median(one.rows_per_s / other.rows_per_s for one, other in pairs), 3)


def eight_to_two(rounds: Rounds) -> float | None:
    """Ours with eight workers to ours with two; None where one of them was not measured."""
    eight, two = (8, Side.OURS), (2, Side.OURS)
    return ratio(rounds, eight, two) if eight in rounds and two in rounds else None


def report(rounds: Rounds) -> dict[str, object]:
    """Both sides for every count of workers."""
    return {
        "workers": [
            {
                "workers": workers,
                **{side: _rounded(Figures.together(rounds[workers, side])) for side in Side},
                "ratio": ratio(rounds, (workers, Side.OURS), (workers, Side.PATTERN)),
            }
            for workers in _counts(rounds)
        ],
        "eight_to_two": eight_to_two(rounds),
    }


def table(rounds: Rounds) -> str:
    """As Markdown, both sides in a row."""
    return markdown(["workers", "rows/s", *_SHOWN], [_row(rounds, workers) for workers in _counts(rounds)])


def _row(rounds: Rounds, workers: int) -> list[str]:
    both = [Figures.together(rounds[workers, side]) for side in Side]
    times = ratio(rounds, (workers, Side.OURS), (workers, Side.PATTERN))
    speed = " / ".join(f"{each.rows_per_s:.0f}" for each in both)
    return [str(workers), f"{speed} ({times:.2f})", *(" / ".join(map(shown, both)) for shown in _SHOWN.values())]


def _counts(rounds: Rounds) -> list[int]:
    return sorted({workers for workers, _ in rounds})


def _rounded(figures: Figures) -> dict[str, float]:
    return {name: round(value, 2) for name, value in asdict(figures).items()}
