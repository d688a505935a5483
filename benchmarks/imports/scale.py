"""The growth of the cost of a row with the size of the file, the size of the case and the rows that share a name.

A large import is compared with small ones into new cases. In the raw ratio these run before it, so the ratio includes
any change of the machine's speed. Otherwise they run in turns with the last stretches of the large import, on the same
full tables, and the ratio is the median of the turns' ratios. A small import's cost includes creating the names that a
new case lacks. Only the handlers are timed.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, ImportRun
from benchmarks.imports.load_file import Shape
from benchmarks.imports.memory import peak_mb

SMALL = 10_000
TURNS, BEFORE, FULL = 10, 3, 5
# Chunks imported by the process whose memory is measured, and the smallest number of chunks left for timing.
_MEMORY_CHUNKS, _MIN_CHUNKS = 2, 2
_LARGE = "large"
_ROWS = "SELECT chunk_no, row_count FROM import_chunks WHERE import_id = :import_id AND status = 'pending' ORDER BY 1"


@dataclass(frozen=True)
class Cost:
    """The cost of a row in microseconds, for start_import and for import_chunk."""

    start: float
    chunks: float

    @classmethod
    def of(cls, imported: ImportRun) -> Cost:
        """Return the cost of a whole import."""
        return cls(*(seconds * 1e6 / imported.rows for seconds in (imported.start_s, sum(imported.chunks_s))))

    @property
    def whole(self) -> float:
        """Return the cost in both handlers."""
        return self.start + self.chunks


@dataclass(frozen=True)
class Turn:
    """The cost of one stretch of the large import, and of the small import into a new case that followed it."""

    measured: Cost
    small: Cost


@dataclass(frozen=True)
class Growth:
    """The costs of a large import compared with small ones: small ones before it, all of it, and both in turns."""

    rows: int
    small_rows: int
    before: Cost
    many: Cost
    turns: Sequence[Turn]
    memory: dict[str, float | None] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """Return the median ratio over the turns, of the cost in import_chunk."""
        return median(turn.measured.chunks / turn.small.chunks for turn in self.turns)

    def in_turns(self) -> tuple[Cost, Cost]:
        """Return the median costs of the small imports and of the stretches in the turns."""
        return combine([turn.small for turn in self.turns]), combine([turn.measured for turn in self.turns])

    def ratios(self) -> dict[str, float]:
        """Return the ratios in turns and raw, without and with start_import."""
        return {
            "ratio": self.ratio,
            "ratio_with_start": median(turn.measured.whole / turn.small.whole for turn in self.turns),
            "raw": self.many.chunks / self.before.chunks,
            "raw_with_start": self.many.whole / self.before.whole,
        }

    def report(self) -> dict[str, object]:
        """Return the ratios, their costs, and memory."""
        few, many = self.in_turns()
        costs = {"small_before": self.before, "all": self.many, "small_in_turns": few, "in_turns": many}
        costs_report = {
            name: {"start_import": round(c.start, 2), "chunks": round(c.chunks, 2)} for name, c in costs.items()
        }
        rounded = {name: round(value, 3) for name, value in self.ratios().items()}
        return {"rows": self.rows, "small_rows": self.small_rows, **rounded, "us_per_row": costs_report, **self.memory}


def combine(costs: Sequence[Cost]) -> Cost:
    """Return the medians of the costs."""
    return Cost(median(cost.start for cost in costs), median(cost.chunks for cost in costs))


@dataclass
class Scale:
    """The measurement of a large file of that shape, and of small ones."""

    application: Application
    folder: Path
    shape: Shape
    _cases: Iterator[int] = field(default_factory=itertools.count)

    @property
    def small(self) -> int:
        """Return the rows of a small import: at most a tenth of the large one."""
        return max(1, min(SMALL, self.shape.rows // 10))

    def large_file(self, *, weigh: bool = True) -> Growth:
        """Import the large file, and small ones before it and between its last stretches; `weigh` measures memory."""
        before = combine([self._import_small() for _ in range(BEFORE)])
        _print(f"{BEFORE} imports of {self.small} rows: {before.whole:.0f} us per row")
        import_id, start_s = self._start(self.shape, _LARGE)
        start = start_s * 1e6 / self.shape.rows
        # These chunks are imported in another process and are not timed.
        memory = (
            {"peak_mb": self._measure_memory(import_id), "small_peak_mb": self._measure_small_memory()} if weigh else {}
        )
        chunks, turns = self._chunks(import_id, start)
        done = self.application.finish(import_id, start_s)
        return Growth(done.rows, self.small, before, Cost(start, chunks), turns, memory)

    def _chunks(self, import_id: int, start: float) -> tuple[float, list[Turn]]:
        """Import all pending chunks; return the cost of their rows, and the turns."""
        chunks = [(row[0], row[1]) for row in self.application.database.query(_ROWS, import_id=import_id)]
        if len(chunks) < _MIN_CHUNKS:
            raise BenchmarkError(
                f"{len(chunks)} chunks are too few to measure the growth of cost; increase --scale-rows"
            )
        length = max(1, self.small // chunks[0][1])
        stretches = [chunks[first : first + length] for first in range(0, len(chunks), length)]
        alone = max(len(stretches) - TURNS, len(stretches) // 2)
        seconds, turns = list[float](), list[Turn]()
        for number, stretch in enumerate(stretches):
            seconds.append(self.application.import_chunks(import_id, [chunk_no for chunk_no, _ in stretch]))
            cost = seconds[-1] * 1e6 / sum(rows for _, rows in stretch)
            if number >= alone:
                turns.append(Turn(Cost(start, cost), self._import_small()))
            if number % 10 == 9 or number == len(stretches) - 1:
                _print(f"stretch {number + 1} of {len(stretches)}: {cost:.0f} us per row")
        return sum(seconds) * 1e6 / sum(rows for _, rows in chunks), turns

    def full_case(self, large: Growth) -> Growth:
        """Import new rows in small files into the case of the large one, in turns with imports into new cases."""
        turns = []
        for number in range(FULL):
            shape = self._resize(self.small, f"{self.shape.prefix}{number}")
            turns.append(Turn(self._import(shape, _LARGE), self._import_small()))
        full = combine([turn.measured for turn in turns])
        return Growth(large.rows, self.small, large.before, full, turns)

    def _import_small(self) -> Cost:
        """Return the cost of a small import into a new case."""
        return self._import(self._resize(self.small), f"small {next(self._cases)}")

    def _resize(self, rows: int, prefix: str | None = None) -> Shape:
        return dataclasses.replace(self.shape, rows=rows, prefix=prefix or self.shape.prefix)

    def _import(self, shape: Shape, case: str) -> Cost:
        return Cost.of(self.application.finish(*self._start(shape, case)))

    def _start(self, shape: Shape, case: str) -> tuple[int, float]:
        path = self.folder / f"{shape.prefix}-{shape.rows}.dat"
        shape.write(path)
        try:
            return self.application.start(self.application.upload(path, case))
        finally:
            path.unlink()

    def _measure_memory(self, import_id: int) -> float | None:
        return peak_mb(self.application.environment, import_id, self.application.pending(import_id)[:_MEMORY_CHUNKS])

    def _measure_small_memory(self) -> float | None:
        return self._measure_memory(self._start(self._resize(self.small), f"small {next(self._cases)}")[0])


def _print(line: str) -> None:
    print(line, file=sys.stderr)
