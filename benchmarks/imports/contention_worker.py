"""A worker that imports chunks of one file concurrently with others: by the application's handler or by the pattern.

Guaranteed: workers take each chunk once, in order, from a shared counter that replaces the queue; when the measurement
starts, connections are open and statements are compiled. A chunk that fails is delivered again immediately to the same
worker, without SQS's delay; its time includes all deliveries and pauses.
"""

from __future__ import annotations

import functools
import logging
import multiprocessing
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import import_chunk
from benchmarks.errors import BenchmarkError
from benchmarks.imports.application import apply_environment
from benchmarks.imports.baselines import Chunk
from benchmarks.imports.invocation import time_handler
from benchmarks.imports.locking_pattern import LockingPattern
from shell.observability import logger, metrics

T = TypeVar("T")
RETRYING, FAILED = "retrying a transaction", "failed"
_MOST_DELIVERIES = 50


@dataclass(frozen=True)
class Setup:
    """The first job of a worker: the application's environment, the pattern's chunks, and the data for warming up.

    Only this worker uses that data: a chunk of an import, and a case in a schema with the pattern's tables.
    """

    environment: Mapping[str, str]
    chunks: Sequence[Chunk]
    worker: int
    import_id: int
    chunk_no: int
    url: str


@dataclass(frozen=True)
class OurJob:
    """A job: import chunks by the application."""

    import_id: int
    chunks: Sequence[int]


@dataclass(frozen=True)
class PatternJob:
    """A job: import all chunks of the setup by the pattern, into empty tables."""

    url: str


Job = Setup | OurJob | PatternJob


@dataclass
class WorkResult:
    """The result of one worker: begin and end on the monotonic clock, the seconds of each chunk, and the numbers of
    retried transactions and of redeliveries."""

    began: float = 0.0
    ended: float = 0.0
    chunks_s: list[float] = field(default_factory=list)
    retries: int = 0
    redelivered: int = 0


class RetryCounter(logging.Handler):
    """A log handler that counts the application's retried transactions and keeps the last failure."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count, self.failure = 0, "nothing was logged"

    def emit(self, record: logging.LogRecord) -> None:
        """Count the record if it reports a retry, or keep its failure."""
        if record.msg == RETRYING:
            self.count += 1
        elif record.msg == FAILED:
            self.failure = f"{getattr(record, 'error', '?')}: {getattr(record, 'reason', None)}"


def deliver(import_id: int, chunk_no: int) -> bool:
    """Call the handler with the chunk's message; return whether it succeeded."""
    try:
        time_handler(import_chunk.lambda_handler, {"import_id": import_id, "chunk_no": chunk_no})
    except BenchmarkError:
        return False
    finally:
        # Disabled metrics are still collected, and printed at the hundredth value of a name.
        metrics.clear_metrics()
    return True


class ContentionWorker:
    """The code of a worker. Create it before the processes, which then share its counter."""

    def __init__(self) -> None:
        self._next = multiprocessing.get_context("fork").Value("i", 0)
        self._retry_counter = RetryCounter()
        self._compiled: dict[Any, Any] = {}
        self._setup_job: Setup | None = None

    def rewind(self) -> None:
        """Make all chunks available again."""
        with self._next.get_lock():
            self._next.value = 0

    def prepare(self, job: Job) -> Callable[[], WorkResult]:
        """Prepare a job and return the function that runs it; see `benchmarks.processes`."""
        if isinstance(job, Setup):
            self._setup_job = job
            self._count_retries()
            apply_environment(job.environment)
            return self._warm_up
        if isinstance(job, OurJob):
            # This chunk is already imported; the delivery reconnects where the connection is too old.
            deliver(self._setup.import_id, self._setup.chunk_no)
            return functools.partial(self._import_by_application, job)
        pattern = LockingPattern(job.url, self._compiled)
        pattern.connect()
        return functools.partial(self._import_by_pattern, pattern)

    @property
    def _setup(self) -> Setup:
        if self._setup_job is None:
            raise BenchmarkError("the worker was not set up")
        return self._setup_job

    def _count_retries(self) -> None:
        for other in logger.handlers:
            other.setLevel(logging.CRITICAL)
        logger.setLevel(logging.WARNING)
        logger.addHandler(self._retry_counter)

    def _warm_up(self) -> WorkResult:
        setup, pattern = self._setup, LockingPattern(self._setup.url, self._compiled)
        rows = [{**row, "case_id": setup.worker} for row in setup.chunks[0].exhibits]
        done = deliver(setup.import_id, setup.chunk_no)
        done &= pattern.import_chunk(replace(setup.chunks[0], case_id=setup.worker, exhibits=rows))
        pattern.close()
        if not done:
            raise BenchmarkError(f"a worker could not warm up: {self._retry_counter.failure}")
        return WorkResult()

    def _import_by_application(self, job: OurJob) -> WorkResult:
        before = self._retry_counter.count
        work = self._work(job.chunks, functools.partial(deliver, job.import_id))
        work.retries = self._retry_counter.count - before
        return work

    def _import_by_pattern(self, pattern: LockingPattern) -> WorkResult:
        work = self._work(self._setup.chunks, pattern.import_chunk)
        work.retries = pattern.retries
        pattern.close()
        return work

    def _work(self, chunks: Sequence[T], deliver_chunk: Callable[[T], bool]) -> WorkResult:
        work = WorkResult(began=time.monotonic())
        while (chunk := self._take(chunks)) is not None:
            began = time.monotonic()
            work.redelivered += self._deliver(chunk, deliver_chunk) - 1
            work.chunks_s.append(time.monotonic() - began)
        work.ended = time.monotonic()
        return work

    def _take(self, chunks: Sequence[T]) -> T | None:
        with self._next.get_lock():
            number = self._next.value
            self._next.value += 1
        return chunks[number] if number < len(chunks) else None

    def _deliver(self, chunk: T, deliver_chunk: Callable[[T], bool]) -> int:
        """Return the number of deliveries. Raises BenchmarkError for a chunk that fails 50 times."""
        for delivery in range(1, _MOST_DELIVERIES + 1):
            if deliver_chunk(chunk):
                return delivery
        raise BenchmarkError(
            f"a chunk failed {_MOST_DELIVERIES} times; the last failure was {self._retry_counter.failure}"
        )
