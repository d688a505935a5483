"""Worker processes of a benchmark, each as alone as a Lambda environment: they prepare, wait, and begin together.

Guaranteed: nothing is timed before every worker is prepared; what goes wrong in one of them is raised here; they end
with this process. Not guaranteed: that all of them run at once, which is up to the machine.
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
Answer = TypeVar("Answer")
# What a worker does at the word, once it has done everything that can be done before.
Prepare = Callable[[Job], Callable[[], Answer]]
_PATIENCE_S = 120.0
_READY, _BEGIN = "ready", "begin"


@dataclass(frozen=True)
class _Failure:
    """What went wrong, as text: not every error can be sent."""

    text: str


class Workers(Generic[Job, Answer]):
    """Processes that wait for jobs; forked, so make them before there is a thread or a connection."""

    def __init__(self, count: int, prepare: Prepare[Job, Answer]) -> None:
        forking, self._pipes = multiprocessing.get_context("fork"), list[Connection]()
        self._processes = list[BaseProcess]()
        for _ in range(count):
            ours, theirs = forking.Pipe()
            # A worker ends when nobody holds our end of its pipe any more, and a fork holds all that there are.
            process = forking.Process(target=_serve, args=(theirs, [*self._pipes, ours], prepare), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def close(self) -> None:
        """End them, whatever they are at."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()

    def work(self, jobs: Sequence[Job]) -> list[Answer]:
        """What as many workers as jobs do when they begin together; raises BenchmarkError if one fails."""
        self.prepare(jobs)
        return self.begin(len(jobs))

    def prepare(self, jobs: Sequence[Job]) -> None:
        """Give the jobs to as many workers, and wait until all of them could begin."""
        busy = self._pipes[: len(jobs)]
        for worker, job in zip(busy, jobs, strict=True):
            worker.send(job)
        for worker in busy:
            _received(worker)

    def begin(self, count: int) -> list[Answer]:
        """What so many that were prepared do."""
        busy = self._pipes[:count]
        for worker in busy:
            worker.send(_BEGIN)
        return [_received(worker) for worker in busy]


def _received(worker: Connection) -> Any:
    try:
        if not worker.poll(_PATIENCE_S):
            raise BenchmarkError(f"a worker did not answer within {_PATIENCE_S:.0f} s")
        answer = worker.recv()
    except (EOFError, OSError) as exc:
        raise BenchmarkError("a worker died") from exc
    if isinstance(answer, _Failure):
        raise BenchmarkError(answer.text)
    return answer


def _serve(pipe: Connection, others: Sequence[Connection], prepare: Prepare[Any, Any]) -> None:
    for other in others:
        other.close()
    # Ctrl-C reaches everybody in the terminal; the command decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with suppress(EOFError, OSError):
        while True:
            pipe.send(_done(pipe.recv(), pipe, prepare))


def _done(job: Any, pipe: Connection, prepare: Prepare[Any, Any]) -> Any:
    try:
        begin = prepare(job)
        pipe.send(_READY)
        pipe.recv()
        return begin()
    except BenchmarkError as error:
        return _Failure(str(error))
    except (SQLAlchemyError, ExhibitIngestError) as error:
        return _Failure(f"{type(error).__name__}: {error}")
