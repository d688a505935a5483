"""The capacity of Aurora Serverless v2, in units, as it follows the load.

AWS documents no rule: it says that the more capacity there is, the faster it grows, and that it shrinks more slowly
(Aurora user guide, "How Aurora Serverless v2 works"). Assumed: while imports use nearly all that they may, the units
double every STEP_S, so that 0.5 grow to 8 in a minute; while they use less than a third, they shrink by a tenth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from simpy import Environment, Event

from benchmarks.imports.aurora_model import DATABASE_SHARE, UNIT_CPUS
from benchmarks.simulation.cell import Cell
from benchmarks.simulation.processors import SharedProcessors

STEP_S, PAUSE_AFTER_S, RESUME_S = 15.0, 300.0, 15.0
_LEAST_AWAKE = 0.5
# The names of the first limits, in the order in which they are looked for.
DATABASE, CHUNKS, SPLITS = "the database's capacity", "ChunkConcurrency", "the number of splits at once"
ONE_SPLIT, NOTHING = "the speed of one split", "nothing"


@dataclass(frozen=True)
class Units:
    """The least and the largest capacity; one that may be 0 pauses."""

    least: float
    most: float


class Capacity:
    """Resizes a cell's processors while there is work; `unit_s` are the seconds of one unit that are paid.

    `limits` counts, for each STEP_S with open imports, what kept them from being faster.
    """

    def __init__(self, env: Environment, units: Units) -> None:
        self._env, self._units = env, units
        self.units = units.least
        self.unit_s, self._paid_until = 0.0, 0.0
        self.limits: Counter[str] = Counter()
        self.processors = SharedProcessors(env, self._processors())

    def run(self, cell: Cell) -> Generator[Event, Any, None]:
        """Follow the cell's load."""
        idle_s = 0.0
        while True:
            if not cell.open and self.units == self._units.least:
                yield cell.wait_for_work()
            used_s = self.processors.used_s
            yield self._env.timeout(STEP_S)
            self.update()
            share = (self.processors.used_s - used_s) / STEP_S / (self._processors() or 1.0)
            idle_s = 0.0 if cell.open else idle_s + STEP_S
            if cell.open:
                self.limits[self._find_limit(cell, share)] += 1
            self._resize(self._next_units(share, bool(cell.open), idle_s))

    def update(self) -> None:
        """Bring the counters to the present."""
        self.processors.update()
        self.unit_s += self.units * (self._env.now - self._paid_until)
        self._paid_until = self._env.now

    def _next_units(self, share: float, has_work: bool, idle_s: float) -> float:
        if not self._units.least and idle_s >= PAUSE_AFTER_S:
            return 0.0
        if not self.units:
            # A paused database resumes with the first connection, in about RESUME_S, which is one step.
            return _LEAST_AWAKE if has_work else 0.0
        factor = 2.0 if share > 0.9 else 0.9 if share < 1 / 3 else 1.0
        return min(self._units.most, max(self._units.least or _LEAST_AWAKE, self.units * factor))

    def _resize(self, units: float) -> None:
        if units != self.units:
            self.units = units
            self.processors.resize(self._processors())

    def _processors(self) -> float:
        return self.units * UNIT_CPUS * DATABASE_SHARE

    @staticmethod
    def _find_limit(cell: Cell, share: float) -> str:
        if share > 0.99:
            return DATABASE
        if cell.chunk_source.is_full:
            return CHUNKS
        if cell.split_source.is_full:
            return SPLITS
        return ONE_SPLIT if cell.split_source.running else NOTHING
