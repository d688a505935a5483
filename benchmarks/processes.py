"""Worker processes of a benchmark, isolated like Lambda environments: they prepare, wait and start together.

Guaranteed: no job starts before every worker is prepared; an error in a worker is raised in this process; workers end
with this process. Not guaranteed: that all of them run in parallel, which depends on the machine.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from benchmarks.errors import BenchmarkError
from core.errors import ExhibitIngestError

Job = TypeVar("Job")
Result = TypeVar("Result")
# Prepares a job and returns the function that a worker runs when all workers start.
Prepare = Callable[[Job], Callable[[], Result]]
_TIMEOUT_S = 120.0
_READY, _START = "ready", "start"


@dataclass(frozen=True)
class _Failure:
    """An error of a worker, as text: not every exception can be pickled."""

    text: str


class Workers(Generic[Job, Result]):
    """Processes that wait for jobs. They are forked: create them before any thread or connection."""

    def __init__(self, count: int, prepare: Prepare[Job, Result], timeout_s: float = _TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        forking, self._pipes = multiprocessing.get_context("fork"), list[Connection]()
        self._processes = list[BaseProcess]()
        for _ in range(count):
            ours, theirs = forking.Pipe()
            # A worker ends when every copy of this end of its pipe is closed; each fork inherits copies of all pipes.
            process = forking.Process(target=_serve, args=(theirs, [*self._pipes, ours], prepare), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def close(self) -> None:
        """Terminate all workers."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()

    def work(self, jobs: Sequence[Job]) -> list[Result]:
        """Run one job per worker, started together, and return the results. Raises BenchmarkError if a worker fails."""
        self.prepare(jobs)
        return self.start(len(jobs))

    def prepare(self, jobs: Sequence[Job]) -> None:
        """Send one job per worker and wait until all workers are prepared. Raises BenchmarkError if one fails."""
        busy = self._pipes[: len(jobs)]
        for worker, job in zip(busy, jobs, strict=True):
            worker.send(job)
        for worker in busy:
            self._receive(worker)

    def start(self, count: int) -> list[Result]:
        """Start the first `count` workers, which must be prepared, and return their results."""
        busy = self._pipes[:count]
        for worker in busy:
            worker.send(_START)
        return [self._receive(worker) for worker in busy]

    def _receive(self, worker: Connection) -> Any:
        try:
            if not worker.poll(self._timeout_s):
                raise BenchmarkError(f"a worker did not respond within {self._timeout_s:.0f} s")
            result = worker.recv()
        except (EOFError, OSError) as exc:
            raise BenchmarkError("a worker process ended unexpectedly") from exc
        if isinstance(result, _Failure):
            raise BenchmarkError(result.text)
        return result


def _serve(pipe: Connection, others: Sequence[Connection], prepare: Prepare[Any, Any]) -> None:
    for other in others:
        other.close()
    # Ctrl-C reaches every process of the terminal; the main process ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(EOFError, OSError):
        while True:
            pipe.send(_run_job(pipe.recv(), pipe, prepare))


def _run_job(job: Any, pipe: Connection, prepare: Prepare[Any, Any]) -> Any:
    try:
        start = prepare(job)
        pipe.send(_READY)
        pipe.recv()
        return start()
    except BenchmarkError as error:
        return _Failure(str(error))
    except (SQLAlchemyError, ExhibitIngestError) as error:
        return _Failure(f"{type(error).__name__}: {error}")
