"""Figures of a measurement: medians over its rounds, totals of counts, and the ratio of the two strategies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, NamedTuple

from benchmarks.custody.clients import WorkResult
from benchmarks.custody.workload import Contention
from benchmarks.output import percentile_ms
from benchmarks.output import table as markdown

PESSIMISTIC, OPTIMISTIC = STRATEGIES = ("pessimistic", "optimistic")
COMPARED = ("requests_per_s", "p50_ms", "p99_ms")
_COUNTED = ("requests", "deadlocks", "retries", "overlaps", "refused", "gave_up")


class Cell(NamedTuple):
    """The parameters of one measurement."""

    clients: int
    contention: Contention
    strategy: str


@dataclass(frozen=True)
class Figures:
    """The figures of one cell in one round or in several."""

    requests_per_s: float
    p50_ms: float
    p99_ms: float
    requests: int
    deadlocks: int
    retries: int
    overlaps: int
    refused: int
    gave_up: int


Rounds = dict[Cell, list[Figures]]
Formatter = Callable[[Figures], str]
_COMPARED_AS: dict[str, Formatter] = {
    "requests/s": lambda each: f"{each.requests_per_s:.0f}",
    "p50 ms": lambda each: f"{each.p50_ms:.1f}",
    "p99 ms": lambda each: f"{each.p99_ms:.1f}",
}
_COUNTED_AS: dict[str, Formatter] = {
    "retries per 100": lambda each: f"{100 * each.retries / each.requests:.1f}",
    "refused per 100": lambda each: f"{100 * each.refused / each.requests:.1f}",
    "gave up": lambda each: str(each.gave_up),
    "deadlocks": lambda each: str(each.deadlocks),
    "overlaps": lambda each: str(each.overlaps),
}


def build_figures(works: Sequence[WorkResult], deadlocks: int, overlaps: int) -> Figures:
    """Return the figures of clients that ran at the same time."""
    latencies = sorted(each for work in works for each in work.latencies)
    return Figures(
        requests_per_s=sum(len(work.latencies) / work.seconds for work in works),
        p50_ms=percentile_ms(latencies, 0.5),
        p99_ms=percentile_ms(latencies, 0.99),
        requests=len(latencies),
        deadlocks=deadlocks,
        retries=sum(work.attempts for work in works) - len(latencies),
        overlaps=overlaps,
        refused=sum(work.refused for work in works),
        gave_up=sum(work.gave_up for work in works),
    )


def combine(figures: Sequence[Figures]) -> Figures:
    """Return the medians, and the totals of the counts."""
    values = {name: [getattr(each, name) for each in figures] for name in (*COMPARED, *_COUNTED)}
    medians: dict[str, Any] = {name: median(values[name]) for name in COMPARED}
    return Figures(**medians, **{name: sum(values[name]) for name in _COUNTED})


def ratios(rounds: Rounds, clients: int, contention: Contention) -> dict[str, float]:
    """Return optimistic relative to pessimistic: medians of the rounds' ratios, because a machine's speed changes."""
    pairs = list(zip(*(rounds[Cell(clients, contention, each)] for each in (OPTIMISTIC, PESSIMISTIC)), strict=True))
    return {name: round(median(getattr(o, name) / getattr(p, name) for o, p in pairs), 3) for name in COMPARED}


def overlaps(rounds: Rounds) -> int:
    """Return the number of overlaps in all rounds."""
    return sum(figure.overlaps for figures in rounds.values() for figure in figures)


def report(rounds: Rounds) -> dict[str, object]:
    """Return the figures of every cell and of each strategy over all its cells, and the ratios."""
    cells = {cell: combine(figures) for cell, figures in rounds.items()}
    return {
        "cells": [cell._asdict() | _rounded(figures) for cell, figures in cells.items()],
        "ratios": [
            {"clients": cell.clients, "contention": cell.contention, **ratios(rounds, cell.clients, cell.contention)}
            for cell in cells
            if cell.strategy == OPTIMISTIC
        ],
        "strategies": {
            strategy: _rounded(combine([figures for cell, figures in cells.items() if cell.strategy == strategy]))
            for strategy in STRATEGIES
        },
    }


def table(rounds: Rounds) -> str:
    """Return a Markdown table with both strategies in each row."""
    rows = [_row(rounds, cell) for cell in rounds if cell.strategy == OPTIMISTIC]
    return markdown(["contention", "clients", *_COMPARED_AS, *_COUNTED_AS], rows)


def _row(rounds: Rounds, cell: Cell) -> list[str]:
    both = [combine(rounds[cell._replace(strategy=each)]) for each in STRATEGIES]
    ratio = ratios(rounds, cell.clients, cell.contention).values()
    compared = [" / ".join(map(formatter, both)) for formatter in _COMPARED_AS.values()]
    counted = [" / ".join(map(formatter, both)) for formatter in _COUNTED_AS.values()]
    with_ratios = [f"{pair} ({times:.2f})" for pair, times in zip(compared, ratio, strict=True)]
    return [cell.contention, str(cell.clients), *with_ratios, *counted]


def _rounded(figures: Figures) -> dict[str, float]:
    return {name: round(value, 2) for name, value in asdict(figures).items()}
