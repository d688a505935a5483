"""`python -m benchmarks.simulation validate`: predicted and measured figures of this machine, in one run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from benchmarks.database import temporary_database
from benchmarks.imports.application import temporary_application
from benchmarks.imports.load_file import Shape
from benchmarks.imports.scale_out_figures import Figures, combine
from benchmarks.imports.scale_out_worker import Measurement, ScaleOutWorker
from benchmarks.imports.server import buffer_pool
from benchmarks.processes import Workers
from benchmarks.simulation.cell import Upload
from benchmarks.simulation.costs import Costs
from benchmarks.simulation.measured_stack import StackSizes, measure_stack
from benchmarks.simulation.validation import (
    LARGE_TENANT,
    Comparison,
    calibrate_stack,
    calibrate_workers,
    predict_stack,
    predict_workers,
)

_BUFFER_POOL_MB = 1_024
# Without chance, a file always meets the same moment of a worker's batch: each prediction is the mean of several.
_LATER_S = (-1.75, -1.25, -0.75, -0.25, 0.25, 0.75, 1.25, 1.75)
_STACK = StackSizes(small=1_000, larger=500_000, large=1_000_000, workers=2)


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    rows: int = 40_000
    rounds: int = 3
    workers: tuple[int, ...] = (2, 4, 8)
    stack: StackSizes = _STACK


def validate(sizes: Sizes) -> list[Comparison]:
    """Return all comparisons."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        workers, costs = _compare_workers(Path(folder), sizes)
        return [*workers, *_compare_stack(Path(folder), sizes.stack, costs.chunk_processors)]


def _compare_workers(folder: Path, sizes: Sizes) -> tuple[list[Comparison], Costs]:
    path = folder / "load.dat"
    Shape(rows=sizes.rows).write(path)
    rounds: dict[int, list[Figures]] = {}
    with _measurement(path, max(sizes.workers)) as measurement:
        for _ in range(sizes.rounds):
            for count in (1, *sizes.workers):
                rounds.setdefault(count, []).append(measurement.run(count))
    costs, processors = calibrate_workers(combine(rounds[1]), combine(rounds[max(sizes.workers)]))
    compared = [
        Comparison(
            f"{count} workers, rows per second",
            predict_workers(costs, sizes.rows, count, processors),
            combine(rounds[count]).rows_per_s,
        )
        for count in sizes.workers
        if count < max(sizes.workers)
    ]
    return compared, costs


@contextmanager
def _measurement(path: Path, most: int) -> Iterator[Measurement]:
    worker = ScaleOutWorker()
    workers = Workers(most, worker.prepare)
    with (
        temporary_database(None) as database,
        buffer_pool(database, _BUFFER_POOL_MB),
        temporary_application(database) as application,
        closing(workers),
    ):
        measurement = Measurement(application, worker, workers, path)
        measurement.warm_up(most)
        yield measurement


def _compare_stack(folder: Path, sizes: StackSizes, chunk_processors: float) -> list[Comparison]:
    measured = measure_stack(folder, sizes)
    costs = calibrate_stack(*measured.alone, sizes.workers, chunk_processors)
    predictions = [
        predict_stack(costs, sizes.large, [_shift(each, later) for each in measured.uploads.values()], sizes.workers)
        for later in _LATER_S
    ]
    predicted = dict(zip(("large", *measured.uploads), map(fmean, zip(*predictions, strict=True)), strict=True))
    return [
        Comparison(
            f"{title}, seconds from upload to end", *(_mean(each, name) for each in (predicted, measured.seconds))
        )
        for title, name in (
            (f"{sizes.large:,} rows", "large"),
            (f"{sizes.small:,} rows beside them, same tenant", "same"),
            (f"{sizes.small:,} rows beside them, other tenants, mean", "other"),
        )
    ]


def _shift(upload: Upload, seconds: float) -> Upload:
    """Return a small file of another tenant later or earlier; it arrives some seconds after the first one of all."""
    return upload if upload.tenant == LARGE_TENANT else replace(upload, at=max(0.0, upload.at + seconds))


def _mean(seconds: Mapping[str, float], name: str) -> float:
    return fmean(each for key, each in seconds.items() if key.startswith(name))
