"""The months that docs/operations.md compares: by tenants per cell and Size, and by ChunkConcurrency."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.simulation.load import SMALL_ROWS, Load
from benchmarks.simulation.month import Fleet, Plan, simulate_fleet
from benchmarks.simulation.plots import Chart, Line

# Imports whose rate is given.
_LARGE_ROWS = 10_000_000
HEAD = [
    "cells",
    "tenants per cell",
    "small p50, s",
    "p99, s",
    "large, rows/s",
    "database in use",
    "US dollars",
    "limit",
]


@dataclass(frozen=True)
class Sweep:
    """The cells that are compared. Those of another ChunkConcurrency have a part of the tenants, as cells are alike."""

    load: Load
    cell_sizes: Sequence[int] = (10, 50, 200, 1_000)
    sizes: Sequence[str] = ("standard", "large")
    concurrencies: Sequence[int] = (2, 4, 8, 16, 32)
    concurrency_cell: int = 50
    concurrency_tenants: int = 200


@dataclass(frozen=True)
class Result:
    """The figures of a fleet: seconds of small imports, rows per second of large ones, use of the database, cost."""

    name: str
    tenants_per_cell: int
    small_p50_s: float
    small_p99_s: float
    large_rate: float
    database_share: float
    dollars: float
    limit: str
    rows: int
    killed: int
    dead: int

    def format(self) -> list[str]:
        """Return the result as cells of a table."""
        seconds = [f"{self.small_p50_s:.1f}", f"{self.small_p99_s:.1f}"]
        rest = [f"{self.large_rate:,.0f}", f"{self.database_share:.1%}", f"{self.dollars:,.0f}", self.limit]
        return [self.name, str(self.tenants_per_cell), *seconds, *rest]


def run_sizes(sweep: Sweep) -> dict[str, list[Result]]:
    """Return for each Size the results by tenants per cell."""
    uploads = sweep.load.make_uploads()

    def run(size: str, tenants: int) -> Result:
        return _build_result(size, tenants, simulate_fleet(Plan(size), uploads, tenants, sweep.load.seconds))

    return {size: [run(size, each) for each in sweep.cell_sizes] for size in sweep.sizes}


def run_concurrencies(sweep: Sweep) -> list[Result]:
    """Return the results of cells of Size standard by ChunkConcurrency."""
    last = sweep.concurrency_tenants
    uploads = [each for each in sweep.load.make_uploads() if int(each.tenant[1:]) < last]
    return [
        _build_result(
            f"ChunkConcurrency {each}",
            sweep.concurrency_cell,
            simulate_fleet(Plan(chunk_concurrency=each), uploads, sweep.concurrency_cell, sweep.load.seconds),
        )
        for each in sweep.concurrencies
    ]


def _build_result(name: str, tenants_per_cell: int, fleet: Fleet) -> Result:
    limits = [limit for limit in fleet.find_limits() if limit[0] != "nothing"]
    result = Result(
        name=name,
        tenants_per_cell=tenants_per_cell,
        small_p50_s=fleet.small_s(0.5),
        small_p99_s=fleet.small_s(0.99),
        large_rate=fleet.rate(_LARGE_ROWS),
        database_share=fleet.database_share,
        dollars=fleet.dollars,
        limit="{} {:.0%}".format(*limits[0]) if limits else "none",
        rows=fleet.rows,
        killed=sum(cell.killed for cell in fleet.cells),
        dead=sum(cell.dead for cell in fleet.cells),
    )
    print(" | ".join(result.format()), file=sys.stderr)
    return result


def draw_charts(sizes: Mapping[str, Sequence[Result]], concurrencies: Sequence[Result]) -> dict[str, str]:
    """Return the SVG documents by name."""
    places = [str(each.tenants_per_cell) for each in next(iter(sizes.values()))]
    steps = [each.name.split()[-1] for each in concurrencies]
    waits = [
        Line(f"{size}, {name}", [getattr(each, field) for each in results])
        for size, results in sizes.items()
        for name, field in (("p50", "small_p50_s"), ("p99", "small_p99_s"))
    ]
    costs = [Line(size, [each.dollars for each in results]) for size, results in sizes.items()]
    by_concurrency = [
        Line("small, p99", [each.small_p99_s for each in concurrencies]),
        Line("10 million rows", [10_000_000 / each.large_rate / 60 for each in concurrencies]),
    ]
    small = f"Imports of fewer than {SMALL_ROWS:,} rows, upload to end"
    cells = "tenants per cell"
    return {
        "small-imports.svg": Chart(small, cells, places, "seconds", waits).draw(),
        "cost.svg": Chart("A month of all tenants", cells, places, "US dollars", costs).draw(),
        "chunk-concurrency.svg": Chart(
            "A cell of 50 tenants, Size standard", "ChunkConcurrency", steps, "seconds; minutes", by_concurrency
        ).draw(),
    }
