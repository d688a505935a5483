"""Compare the model with this machine: costs from some measurements, then others as it predicts and as they are.

Guaranteed: no figure that is compared is used to find a cost. Import workers: one worker gives the time of a row, the
most workers the processors of the machine, and the predictions are those of the numbers between. The local stack: the
costs are those of a small and of a larger import that run alone and the processors of one worker, the predictions those
of a large import with small ones beside it, for the same tenant and for others.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from simpy import Environment, Event

from benchmarks.errors import BenchmarkError
from benchmarks.imports.aurora_model import CHUNK_ROWS
from benchmarks.imports.invocation import BATCH_SIZE
from benchmarks.imports.scale_out_figures import Figures
from benchmarks.simulation.cell import Cell, CellSettings, Import, Upload
from benchmarks.simulation.costs import Costs
from benchmarks.simulation.processors import SharedProcessors

# Those that the local stack's workers share with each other.
PROCESSORS = 2.0
LARGE_TENANT = "big"
_POLL_S = 0.05


@dataclass(frozen=True)
class Comparison:
    """A figure, as it was predicted and as it was measured."""

    name: str
    predicted: float
    measured: float

    @property
    def ratio(self) -> float:
        """Predicted to measured."""
        return self.predicted / self.measured

    def format(self) -> list[str]:
        """Return the comparison as cells of a table."""
        return [self.name, f"{self.predicted:,.1f}", f"{self.measured:,.1f}", f"{self.ratio:.2f}"]


def calibrate_workers(alone: Figures, most: Figures) -> tuple[Costs, float]:
    """Return the costs of a chunk by one worker's figures, and the processors that the most workers have in use."""
    row_s = 1 / alone.rows_per_s
    row_processors_s = _count_processors(alone) * row_s
    return Costs(row_s, 0.0, row_processors_s / row_s), row_processors_s * most.rows_per_s


def _count_processors(figures: Figures) -> float:
    if figures.server_processors is None:
        raise BenchmarkError("the processor time of the server is not known")
    return figures.server_processors + figures.worker_processors


def predict_workers(costs: Costs, rows: int, workers: int, processors: float) -> float:
    """Return the rows per second of so many workers that import the chunks of one file."""
    env = Environment()
    made = Import(Upload(0, "tenant", rows), -(-rows // CHUNK_ROWS))
    batch = max(1, min(BATCH_SIZE, made.chunk_count // (2 * workers)))
    settings = CellSettings(workers, batch_size=batch)
    cell = Cell(env, SharedProcessors(env, processors), costs, settings, Random(0))
    cell.send_chunks(made, range(made.chunk_count))
    env.run()
    return rows / made.ended_at


@dataclass(frozen=True)
class Alone:
    """An import that ran alone in the stack: its rows, seconds to the end of its split, and seconds to its end.

    `after_s` are seconds of processor time that were used between its end and the moment when no work was left.
    """

    rows: int
    split_s: float
    ended_s: float
    after_s: float = 0.0


def calibrate_stack(small: Alone, larger: Alone, workers: int, chunk_processors: float) -> Costs:
    """Return the costs of the stack from two imports, the larger of which gives each worker as many full batches.

    A worker of chunks that runs alone keeps `chunk_processors` busy, and all of them together at most PROCESSORS.
    """
    rows = larger.rows - small.rows
    split_row_s = (larger.split_s - small.split_s) / rows
    rows_s = ((larger.ended_s - larger.split_s) - (small.ended_s - small.split_s)) / rows
    # The small import has one chunk, which one worker imports alone.
    row_s = rows_s * min(PROCESSORS, workers * chunk_processors) / chunk_processors
    fixed_s = small.ended_s - small.split_s - small.rows * row_s
    return Costs(
        row_s=row_s,
        chunk_s=0.0,
        chunk_processors=chunk_processors,
        start_s=max(0.0, small.split_s - small.rows * split_row_s),
        split_row_s=split_row_s,
        split_processors=1.0,
        complete_s=max(0.0, fixed_s),
        complete_processors=1.0,
        after_s=small.after_s,
    )


def predict_stack(costs: Costs, large: int, small: Sequence[Upload], workers: int) -> list[float]:
    """Return the seconds from upload to end of a large file of so many rows, then of small ones.

    Their times count from when as many chunks of the large file are imported as there are workers.
    """
    env = Environment()
    settings = CellSettings(workers, split_concurrency=workers, complete_concurrency=workers)
    cell = Cell(env, SharedProcessors(env, PROCESSORS), costs, settings, Random(0))

    def send() -> Generator[Event, Any, None]:
        first = cell.upload(Upload(0, LARGE_TENANT, large))
        while len(first.done) < min(workers, first.chunk_count):
            yield env.timeout(_POLL_S)
        began = env.now
        yield from cell.receive([replace(each, at=began + each.at) for each in small])

    env.process(send())
    env.run()
    return [each.seconds for each in cell.imports]
