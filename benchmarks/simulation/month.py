"""A month of a cell, and of a fleet of cells that share the tenants: waiting times, use, limits and cost."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from simpy import Environment

from benchmarks.imports.aurora_model import SIZES, UNIT_CPUS
from benchmarks.simulation.capacity import Capacity, Units
from benchmarks.simulation.cell import Cell, CellSettings, Import, Upload
from benchmarks.simulation.costs import Costs, build_aws_costs
from benchmarks.simulation.load import SMALL_ROWS
from benchmarks.simulation.prices import Bill, compute_bill

# The idle capacity of each Size, as in template.yaml.
LEAST_UNITS = {"small": 0.0, "standard": 0.5, "large": 2.0}


@dataclass(frozen=True)
class Plan:
    """A cell: its Size, and its parameters where they are not those of the Size."""

    size: str = "standard"
    chunk_concurrency: int | None = None
    split_concurrency: int = 4
    most_units: float | None = None
    deaths: float = 0.0

    @property
    def settings(self) -> CellSettings:
        """The cell's settings."""
        return CellSettings(
            self.chunk_concurrency or SIZES[self.size][0],
            split_concurrency=self.split_concurrency,
            deaths=self.deaths,
        )

    @property
    def units(self) -> Units:
        """The capacity of its database."""
        return Units(LEAST_UNITS[self.size], self.most_units or SIZES[self.size][1])


@dataclass(frozen=True)
class Month:
    """What a cell did in a month, until its last import ended."""

    imports: Sequence[Import]
    bill: Bill
    limits: Mapping[str, int]
    database_s: float
    killed: int
    dead: int
    capacity_s: float


def simulate(plan: Plan, uploads: Sequence[Upload], seconds: float, costs: Costs | None = None, seed: int = 1) -> Month:
    """Return the month of a cell that gets the uploads. Raises RuntimeError if an import does not end in two months."""
    env = Environment()
    capacity = Capacity(env, plan.units)
    cell = Cell(env, capacity.processors, costs or build_aws_costs(), plan.settings, Random(seed))
    env.process(cell.receive(uploads))
    env.process(capacity.run(cell))
    env.run(until=seconds)
    while cell.open and env.now < 2 * seconds:
        env.run(until=env.now + 600)
    if cell.open:
        raise RuntimeError(f"{cell.open} imports have not ended after {env.now:.0f} s")
    capacity.update()
    sources = (cell.split_source, cell.chunk_source, cell.complete_source)
    rows = sum(each.rows for each in cell.imports)
    function_s = sum(source.billed_s for source in sources)
    return Month(
        imports=cell.imports,
        bill=compute_bill(plan.size, capacity.unit_s, function_s, rows),
        limits=capacity.limits,
        database_s=capacity.processors.used_s,
        killed=cell.killed,
        dead=sum(len(queue.dead) for queue in (cell.requests, cell.chunks, cell.completions)),
        capacity_s=capacity.unit_s * UNIT_CPUS,
    )


@dataclass(frozen=True)
class Fleet:
    """The months of all cells of a fleet."""

    cells: Sequence[Month]

    def small_s(self, share: float) -> float:
        """Return a percentile (nearest rank) of the seconds from upload to end of small imports."""
        return _percentile([each.seconds for each in self._imports() if each.upload.rows < SMALL_ROWS], share)

    def rate(self, least_rows: int) -> float:
        """Return the median rows per second of imports of so many rows or more, from upload to end."""
        return _percentile([each.rows / each.seconds for each in self._imports() if each.rows >= least_rows], 0.5)

    @property
    def dollars(self) -> float:
        """The cost of the month of all cells."""
        return sum(cell.bill.total for cell in self.cells)

    @property
    def database_share(self) -> float:
        """The share of the processors of all databases, of the capacity that was there, that imports used."""
        return sum(cell.database_s for cell in self.cells) / sum(cell.capacity_s for cell in self.cells)

    @property
    def rows(self) -> int:
        """The rows of all imports."""
        return sum(each.rows for each in self._imports())

    def find_limits(self) -> list[tuple[str, float]]:
        """Return what kept imports from being faster, with its share of the time with open imports, largest first."""
        counted: Counter[str] = Counter()
        for cell in self.cells:
            counted.update(cell.limits)
        return [(name, count / counted.total()) for name, count in counted.most_common()]

    def _imports(self) -> Iterable[Import]:
        return (each for cell in self.cells for each in cell.imports)


def simulate_fleet(plan: Plan, uploads: Iterable[Upload], tenants_per_cell: int, seconds: float) -> Fleet:
    """Return the month of a fleet that has so many tenants in each cell."""
    cells: defaultdict[int, list[Upload]] = defaultdict(list)
    for upload in uploads:
        cells[int(upload.tenant[1:]) // tenants_per_cell].append(upload)
    return Fleet([simulate(plan, cells[number], seconds, seed=number) for number in sorted(cells)])


def _percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1] if ordered else math.nan
