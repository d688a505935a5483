"""Workers that import the chunks of one file as Lambda does: each in a process, several chunks at a time.

Guaranteed: workers take each chunk once, in order, from a shared counter that replaces the queue; when the measurement
starts, connections are open and statements are compiled.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import import_chunk
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import Application, apply_environment
from benchmarks.imports.contention_figures import Counters
from benchmarks.imports.invocation import BATCH_SIZE, time_handler
from benchmarks.imports.load_file import Shape
from benchmarks.imports.scale_out_figures import Figures
from benchmarks.imports.usage import measure_usage
from benchmarks.processes import Workers
from shell.observability import metrics
from shell.settings import settings

_REDO = "SHOW GLOBAL STATUS LIKE 'Innodb_os_log_written'"


@dataclass(frozen=True)
class Job:
    """The chunks of an import that all workers share; an invocation takes at most `batch` of them.

    The first job of a worker has the application's environment and chunks for this worker alone.
    """

    import_id: int
    chunks: Sequence[int]
    batch: int
    environment: Mapping[str, str] | None = None


class ScaleOutWorker:
    """The code of a worker. Create it before the processes, which then share its counter."""

    def __init__(self) -> None:
        self._next = multiprocessing.get_context("fork").Value("i", 0)

    def rewind(self) -> None:
        """Make all chunks available again."""
        with self._next.get_lock():
            self._next.value = 0

    def prepare(self, job: Job) -> Callable[[], float]:
        """Return the function that works on the job; it returns the seconds of processor time."""
        if job.environment is None:
            return partial(self._work, job)
        apply_environment(job.environment)
        _import(job, job.chunks)
        return lambda: 0.0

    def _work(self, job: Job) -> float:
        began = time.process_time()
        while chunks := self._take(job):
            _import(job, chunks)
        return time.process_time() - began

    def _take(self, job: Job) -> Sequence[int]:
        with self._next.get_lock():
            start = self._next.value
            self._next.value += job.batch
        return job.chunks[start : start + job.batch]


def _import(job: Job, chunks: Sequence[int]) -> None:
    time_handler(import_chunk.lambda_handler, *({"import_id": job.import_id, "chunk_no": each} for each in chunks))
    # Disabled metrics are still collected, and printed at the hundredth value of a name.
    metrics.clear_metrics()


@dataclass(frozen=True)
class Measurement:
    """The application, the workers and the file that they import into a new case each time."""

    application: Application
    worker: ScaleOutWorker
    workers: Workers[Job, float]
    path: Path

    def warm_up(self, count: int) -> None:
        """Connect `count` workers and let each import a chunk of another file."""
        path = self.path.with_name("warm.dat")
        Shape(rows=count * settings().chunk_rows).write(path)
        import_id, chunks = self._start(path)
        environment = self.application.environment
        self.workers.work([Job(import_id, [chunk], 1, environment) for chunk in chunks])

    def run(self, count: int) -> Figures:
        """Import the file with that many workers. Raises BenchmarkError if a row is missing."""
        import_id, chunks = self._start(self.path)
        # The last messages of a queue come in smaller batches, to more functions.
        job = Job(import_id, chunks, max(1, min(BATCH_SIZE, len(chunks) // (2 * count))))
        self.worker.rewind()
        self.workers.prepare([job] * count)
        database, process_s = self.application.database, list[float]()
        counted, redo = Counters.read(database), self._read_redo()
        usage = measure_usage(database, lambda: process_s.extend(self.workers.start(count)))
        redo, counted = self._read_redo() - redo, Counters.read(database).since(counted)
        rows = self.application.finish(import_id, 0.0).rows
        server_us = None if usage.server_s is None else usage.server_s * 1e6 / rows
        return Figures(
            rows_per_s=rows / usage.seconds,
            server_us=server_us,
            worker_us=sum(process_s) * 1e6 / rows,
            server_processors=None if usage.server_s is None else usage.server_s / usage.seconds,
            worker_processors=sum(process_s) / usage.seconds,
            redo_bytes=redo / rows,
            deadlocks=counted.deadlocks,
            lock_waits=counted.lock_waits,
        )

    def _start(self, path: Path) -> tuple[int, list[int]]:
        case = f"scale out {time.monotonic_ns()}"
        import_id, _ = self.application.start(self.application.upload(path, case))
        chunks = self.application.pending(import_id)
        if not chunks:
            raise BenchmarkError("the file has no chunks")
        return import_id, chunks

    def _read_redo(self) -> int:
        return int(self.application.database.query(_REDO)[0][1])
