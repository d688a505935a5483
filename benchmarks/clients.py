"""Clients that record custody periods, each a process, as each Lambda environment is one.

Each has the engine and the settings of the application to itself. A request is `add_periods` in a transaction of its
own, replayed as the application replays it; neither HTTP nor idempotency, which cost the same however devices are
locked. All wait for each other before they begin.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from sqlalchemy.exc import SQLAlchemyError

from benchmarks.errors import BenchmarkError
from benchmarks.workload import Contention, periods_of, requests
from core.caller import Caller
from core.contracts.custody import NewPeriod
from core.errors import ExhibitIngestError, OverlapError, TransactionConflictError
from shell.custody_ops import add_periods
from shell.observability import logger
from shell.settings import settings
from shell.utils.db_session import session
from shell.utils.replaying import retry_on_db_conflict

_PATIENCE_S = 120.0
_UNUSED = 1_000_000


@dataclass(frozen=True)
class Job:
    """What one of `clients` does, and for how long; the environment is that of the application."""

    environment: Mapping[str, str]
    tenant: str
    contention: Contention
    client: int
    clients: int
    seconds: float
    seed: str


@dataclass
class Work:
    """What one client did: how long each request took, how often the requests were attempted, and in how many seconds.

    A refusal is an answer; what was given up is a request that the application could not do.
    """

    latencies: list[float] = field(default_factory=list)
    attempts: int = 0
    refused: int = 0
    gave_up: int = 0
    seconds: float = 0.0


class Clients:
    """Processes that wait for jobs; forked, so make them before there is a thread or a connection."""

    def __init__(self, count: int) -> None:
        forking, self._pipes = multiprocessing.get_context("fork"), list[Connection]()
        self._processes = list[BaseProcess]()
        for _ in range(count):
            ours, theirs = forking.Pipe()
            # A client ends when nobody holds our end of its pipe any more, and a fork holds all that there are.
            process = forking.Process(target=_serve, args=(theirs, [*self._pipes, ours]), daemon=True)
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

    def work(self, jobs: Sequence[Job]) -> list[Work]:
        """What as many clients as jobs do when they begin together; raises BenchmarkError if one fails."""
        busy = self._pipes[: len(jobs)]
        for client, job in zip(busy, jobs, strict=True):
            client.send(job)
        for client in busy:
            _received(client)
        for client in busy:
            client.send("begin")
        return [_received(client) for client in busy]


def _received(client: Connection) -> Work:
    try:
        if not client.poll(_PATIENCE_S):
            raise BenchmarkError(f"a client did not answer within {_PATIENCE_S:.0f} s")
        answer = client.recv()
    except (EOFError, OSError) as exc:
        raise BenchmarkError("a client died") from exc
    if not isinstance(answer, Work):
        raise BenchmarkError(str(answer))
    return answer


def _serve(pipe: Connection, others: Sequence[Connection]) -> None:
    for other in others:
        other.close()
    # Ctrl-C reaches everybody in the terminal; the command decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    logger.setLevel("CRITICAL")
    with suppress(EOFError, OSError):
        while True:
            pipe.send(_done(pipe.recv(), pipe))


def _done(job: Job, pipe: Connection) -> Work | str:
    """Gives what went wrong as text: not every error can be sent."""
    try:
        os.environ.update(job.environment)
        settings.cache_clear()
        # Connects, and compiles the statements; on a device that nobody asks for.
        _timed(Work(), _caller(job), periods_of([_UNUSED + job.client], 0))
        pipe.send(Work())
        pipe.recv()
        return _worked(job)
    except (SQLAlchemyError, ExhibitIngestError) as error:
        return f"{type(error).__name__}: {error}"


def _worked(job: Job) -> Work:
    work, caller = Work(), _caller(job)
    wanted = requests(job.contention, job.client, job.clients, job.seed)
    began = time.perf_counter()
    while time.perf_counter() - began < job.seconds:
        _timed(work, caller, next(wanted))
    work.seconds = time.perf_counter() - began
    return work


def _caller(job: Job) -> Caller:
    return Caller(tenant_id=job.tenant, user_id=f"client {job.client}")


def _timed(work: Work, caller: Caller, periods: Sequence[NewPeriod]) -> None:
    began = time.perf_counter()
    try:
        _record(work, caller, periods)
    except OverlapError:
        work.refused += 1
    except TransactionConflictError:
        work.gave_up += 1
    work.latencies.append(time.perf_counter() - began)


@retry_on_db_conflict
def _record(work: Work, caller: Caller, periods: Sequence[NewPeriod]) -> None:
    work.attempts += 1
    with session() as transaction:
        add_periods(transaction, caller, periods)
