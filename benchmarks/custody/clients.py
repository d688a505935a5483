"""Clients that record custody periods, each a process, as each Lambda environment is one.

Each has the engine and the settings of the application to itself. A request is `add_periods` in a transaction of its
own, replayed as the application replays it; neither HTTP nor idempotency, which cost the same however devices are
locked. All wait for each other before they begin.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.custody.workload import Contention, periods_of, requests
from benchmarks.processes import Workers
from core.caller import Caller
from core.contracts.custody import NewPeriod
from core.errors import OverlapError, TransactionConflictError
from shell.custody_ops import add_periods
from shell.observability import logger
from shell.settings import settings
from shell.utils.db_session import session
from shell.utils.replaying import retry_on_db_conflict

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


class Clients(Workers[Job, Work]):
    """Processes that wait for jobs; forked, so make them before there is a thread or a connection."""

    def __init__(self, count: int) -> None:
        super().__init__(count, _prepare)


def _prepare(job: Job) -> Callable[[], Work]:
    logger.setLevel("CRITICAL")
    os.environ.update(job.environment)
    settings.cache_clear()
    # Connects, and compiles the statements; on a device that nobody asks for.
    _timed(Work(), _caller(job), periods_of([_UNUSED + job.client], 0))
    return functools.partial(_worked, job)


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
