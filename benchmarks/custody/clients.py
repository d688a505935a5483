"""Clients that record custody periods, each in its own process, like Lambda environments.

Each has its own engine and settings of the application. A request is `add_periods` in one transaction, retried as in
the application, without HTTP and idempotency, whose cost does not depend on the locking strategy. All clients start
together.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.custody.workload import Contention, build_periods, requests
from benchmarks.processes import Workers
from core.caller import Caller
from core.contracts.custody import NewPeriod
from core.errors import OverlapError, TransactionConflictError
from shell.custody.commands import add_periods
from shell.db.retry import retry_on_db_conflict
from shell.db.session import session
from shell.observability import logger
from shell.settings import settings

_UNUSED = 1_000_000


@dataclass(frozen=True)
class Job:
    """The job of one of `clients`; the environment is that of the application."""

    environment: Mapping[str, str]
    tenant: str
    contention: Contention
    client: int
    clients: int
    seconds: float
    seed: str


@dataclass
class WorkResult:
    """The result of one client: the seconds of each request, the number of attempts, and the seconds in all.

    `refused` counts requests rejected because of an overlap, `gave_up` requests that failed after all retries.
    """

    latencies: list[float] = field(default_factory=list)
    attempts: int = 0
    refused: int = 0
    gave_up: int = 0
    seconds: float = 0.0


class Clients(Workers[Job, WorkResult]):
    """Processes that wait for jobs. They are forked: create them before any thread or connection."""

    def __init__(self, count: int) -> None:
        super().__init__(count, _prepare)


def _prepare(job: Job) -> Callable[[], WorkResult]:
    logger.setLevel("CRITICAL")
    os.environ.update(job.environment)
    settings.cache_clear()
    # Connects and compiles the statements, on a device that no request uses.
    _time_request(WorkResult(), _caller(job), build_periods([_UNUSED + job.client], 0))
    return functools.partial(_run, job)


def _run(job: Job) -> WorkResult:
    work, caller = WorkResult(), _caller(job)
    stream = requests(job.contention, job.client, job.clients, job.seed)
    began = time.perf_counter()
    while time.perf_counter() - began < job.seconds:
        _time_request(work, caller, next(stream))
    work.seconds = time.perf_counter() - began
    return work


def _caller(job: Job) -> Caller:
    return Caller(tenant_id=job.tenant, user_id=f"client {job.client}")


def _time_request(work: WorkResult, caller: Caller, periods: Sequence[NewPeriod]) -> None:
    began = time.perf_counter()
    try:
        _record(work, caller, periods)
    except OverlapError:
        work.refused += 1
    except TransactionConflictError:
        work.gave_up += 1
    work.latencies.append(time.perf_counter() - began)


@retry_on_db_conflict
def _record(work: WorkResult, caller: Caller, periods: Sequence[NewPeriod]) -> None:
    work.attempts += 1
    with session() as transaction:
        add_periods(transaction, caller, periods)
