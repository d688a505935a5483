"""A worker that imports chunks of one file while others do the same: by the application's handler, or by the pattern.

Guaranteed: a worker takes the next chunk that nobody has taken, from a counter that all share, as from a queue; what is
timed begins with connections made and statements compiled. A chunk that fails is delivered again at once, by the same
worker, where SQS would wait; its time is that of all its deliveries and pauses.
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
from benchmarks.imports.application import use
from benchmarks.imports.invoking import seconds_of
from benchmarks.imports.locking_pattern import LockingPattern
from benchmarks.imports.rivals import Chunk
from shell.observability import logger, metrics

T = TypeVar("T")
REPLAYING, FAILED = "replaying a transaction", "failed"
_MOST_DELIVERIES = 50


@dataclass(frozen=True)
class Setting:
    """What a worker is given once: the application's environment, the pattern's chunks, and something to warm up with.

    That is a chunk of an import and a schema with the pattern's tables, both for nobody but the worker of this number.
    """

    environment: Mapping[str, str]
    chunks: Sequence[Chunk]
    worker: int
    import_id: int
    chunk_no: int
    url: str


@dataclass(frozen=True)
class Ours:
    """The chunks of an import, by the application."""

    import_id: int
    chunks: Sequence[int]


@dataclass(frozen=True)
class Pattern:
    """All chunks of the setting, by the pattern, into empty tables."""

    url: str


Job = Setting | Ours | Pattern


@dataclass
class Work:
    """What one worker did between two moments of a clock that all processes share: the seconds of each chunk, how often
    a transaction was replayed, and how often a chunk was delivered again."""

    began: float = 0.0
    ended: float = 0.0
    chunks_s: list[float] = field(default_factory=list)
    retries: int = 0
    redelivered: int = 0


class Replays(logging.Handler):
    """Counts the replays that the application's log tells of, and keeps the last failure."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count, self.failure = 0, "nothing was logged"

    def emit(self, record: logging.LogRecord) -> None:
        """Take notice of a line of the log."""
        if record.msg == REPLAYING:
            self.count += 1
        elif record.msg == FAILED:
            self.failure = f"{getattr(record, 'error', '?')}: {getattr(record, 'reason', None)}"


def deliver(import_id: int, chunk_no: int) -> bool:
    """Give the chunk's message to the handler; whether that was content with it."""
    try:
        seconds_of(import_chunk.lambda_handler, {"import_id": import_id, "chunk_no": chunk_no})
    except BenchmarkError:
        return False
    finally:
        # Metrics that are disabled are kept, and at the hundredth printed all the same.
        metrics.clear_metrics()
    return True


class Contender:
    """The worker; make it before its processes are, which then share the counter."""

    def __init__(self) -> None:
        self._next = multiprocessing.get_context("fork").Value("i", 0)
        self._replays = Replays()
        self._compiled: dict[Any, Any] = {}
        self._setting: Setting | None = None

    def rewind(self) -> None:
        """Nobody has taken any chunk."""
        with self._next.get_lock():
            self._next.value = 0

    def prepare(self, job: Job) -> Callable[[], Work]:
        """What is to be done at the word; see `benchmarks.processes`."""
        if isinstance(job, Setting):
            self._setting = job
            self._listen()
            use(job.environment)
            return self._warm_up
        if isinstance(job, Ours):
            # It is done already: this connects, where the connection has become too old.
            deliver(self._given.import_id, self._given.chunk_no)
            return functools.partial(self._ours, job)
        pattern = LockingPattern(job.url, self._compiled)
        pattern.connect()
        return functools.partial(self._pattern, pattern)

    @property
    def _given(self) -> Setting:
        if self._setting is None:
            raise BenchmarkError("a worker has no setting")
        return self._setting

    def _listen(self) -> None:
        for other in logger.handlers:
            other.setLevel(logging.CRITICAL)
        logger.setLevel(logging.WARNING)
        logger.addHandler(self._replays)

    def _warm_up(self) -> Work:
        given, pattern = self._given, LockingPattern(self._given.url, self._compiled)
        rows = [{**row, "case_id": given.worker} for row in given.chunks[0].exhibits]
        done = deliver(given.import_id, given.chunk_no)
        done &= pattern.import_chunk(replace(given.chunks[0], case_id=given.worker, exhibits=rows))
        pattern.close()
        if not done:
            raise BenchmarkError(f"a worker could not warm up: {self._replays.failure}")
        return Work()

    def _ours(self, job: Ours) -> Work:
        before = self._replays.count
        work = self._work(job.chunks, functools.partial(deliver, job.import_id))
        work.retries = self._replays.count - before
        return work

    def _pattern(self, pattern: LockingPattern) -> Work:
        work = self._work(self._given.chunks, pattern.import_chunk)
        work.retries = pattern.retries
        pattern.close()
        return work

    def _work(self, chunks: Sequence[T], give: Callable[[T], bool]) -> Work:
        work = Work(began=time.monotonic())
        while (chunk := self._taken(chunks)) is not None:
            began = time.monotonic()
            work.redelivered += self._delivered(chunk, give) - 1
            work.chunks_s.append(time.monotonic() - began)
        work.ended = time.monotonic()
        return work

    def _taken(self, chunks: Sequence[T]) -> T | None:
        with self._next.get_lock():
            number = self._next.value
            self._next.value += 1
        return chunks[number] if number < len(chunks) else None

    def _delivered(self, chunk: T, give: Callable[[T], bool]) -> int:
        """How often it took; raises BenchmarkError for a chunk that will not be imported."""
        for delivery in range(1, _MOST_DELIVERIES + 1):
            if give(chunk):
                return delivery
        raise BenchmarkError(f"a chunk failed {_MOST_DELIVERIES} times; the last failure was {self._replays.failure}")
