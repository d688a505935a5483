"""Figures of workers that import one file concurrently: medians over the rounds, totals of counts, and ratios."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from statistics import median
from typing import Any, NamedTuple

from benchmarks.database import Database
from benchmarks.imports.contention_worker import WorkResult
from benchmarks.output import percentile_ms
from benchmarks.output import table as markdown

_MEASURED = ("rows_per_s", "p50_ms", "p99_ms")
_COUNTED = ("deadlocks", "lock_waits", "lock_wait_ms", "retries", "redelivered")


class Contender(StrEnum):
    """The importer: the application or the published pattern."""

    OURS = "ours"
    PATTERN = "pattern"


class Counters(NamedTuple):
    """The counters of the server, for all its clients."""

    deadlocks: int
    lock_waits: int
    lock_wait_ms: int

    @classmethod
    def read(cls, database: Database) -> Counters:
        """Read the current values."""
        status = {name: int(value) for name, value in database.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_%'")}
        return cls(database.deadlocks(), status["Innodb_row_lock_waits"], status["Innodb_row_lock_time"])

    def since(self, before: Counters) -> Counters:
        """Return the increase."""
        return Counters(*(now - then for now, then in zip(self, before, strict=True)))


@dataclass(frozen=True)
class Figures:
    """The figures of one contender with a number of workers, in one round or in several."""

    rows_per_s: float
    p50_ms: float
    p99_ms: float
    deadlocks: int
    lock_waits: int
    lock_wait_ms: int
    retries: int
    redelivered: int

    @classmethod
    def build(cls, rows: int, works: Sequence[WorkResult], counted: Counters) -> Figures:
        """Return the figures of workers that imported `rows` rows in all."""
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
    def combine(cls, rounds: Sequence[Figures]) -> Figures:
        """Return the medians over the rounds, and the totals of the counts."""
        values: dict[str, Any] = {name: median(getattr(each, name) for each in rounds) for name in _MEASURED}
        return cls(**values, **{name: sum(getattr(each, name) for each in rounds) for name in _COUNTED})


Rounds = Mapping[tuple[int, Contender], Sequence[Figures]]
_FORMATS: dict[str, Callable[[Figures], str]] = {
    "p50 ms": lambda each: f"{each.p50_ms:.0f}",
    "p99 ms": lambda each: f"{each.p99_ms:.0f}",
    "deadlocks": lambda each: str(each.deadlocks),
    "lock waits": lambda each: str(each.lock_waits),
    "waited, s": lambda each: f"{each.lock_wait_ms / 1000:.1f}",
    "retries": lambda each: str(each.retries),
    "redelivered": lambda each: str(each.redelivered),
}


def ratio(rounds: Rounds, above: tuple[int, Contender], below: tuple[int, Contender]) -> float:
    """Return the ratio of rates: the median of the rounds' ratios, because the speed of a machine changes."""
    pairs = zip(rounds[above], rounds[below], strict=True)
    return round(median(one.rows_per_s / other.rows_per_s for one, other in pairs), 3)


def eight_to_two(rounds: Rounds) -> float | None:
    """Return the application's rate with eight workers relative to two; None where one was not measured."""
    eight, two = (8, Contender.OURS), (2, Contender.OURS)
    return ratio(rounds, eight, two) if eight in rounds and two in rounds else None


def report(rounds: Rounds) -> dict[str, object]:
    """Return the figures of both contenders for every number of workers."""
    return {
        "workers": [
            {
                "workers": workers,
                **{contender: _rounded(Figures.combine(rounds[workers, contender])) for contender in Contender},
                "ratio": ratio(rounds, (workers, Contender.OURS), (workers, Contender.PATTERN)),
            }
            for workers in _counts(rounds)
        ],
        "eight_to_two": eight_to_two(rounds),
    }


def table(rounds: Rounds) -> str:
    """Return a Markdown table with both contenders in each row."""
    return markdown(["workers", "rows/s", *_FORMATS], [_row(rounds, workers) for workers in _counts(rounds)])


def _row(rounds: Rounds, workers: int) -> list[str]:
    both = [Figures.combine(rounds[workers, contender]) for contender in Contender]
    times = ratio(rounds, (workers, Contender.OURS), (workers, Contender.PATTERN))
    speed = " / ".join(f"{each.rows_per_s:.0f}" for each in both)
    return [
        str(workers),
        f"{speed} ({times:.2f})",
        *(" / ".join(map(formatter, both)) for formatter in _FORMATS.values()),
    ]


def _counts(rounds: Rounds) -> list[int]:
    return sorted({workers for workers, _ in rounds})


def _rounded(figures: Figures) -> dict[str, float]:
    return {name: round(value, 2) for name, value in asdict(figures).items()}
