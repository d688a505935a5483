"""Processes that give out numbers of one prefix at once, as many environments of a function do."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import NamedTuple

from core.productions.bates import BatesFormat
from core.saga import SagaEvent, SagaEventKind
from shell.db.session import session
from shell.observability import logger
from shell.productions import steps
from shell.productions.bates_sequences import allocate_numbers, ensure_sequence
from shell.productions.state import record_step_event
from tests.support.api_workers import _FORKS

_meeting: Barrier | None = None


class Work(NamedTuple):
    """A production, whether its numbers are to be void in the end, and whether somebody rolls back before it."""

    production_id: int
    voided: bool
    rolled_back: bool


class Told(NamedTuple):
    """How many productions a process reserved numbers for, and how many transactions it had to replay for that."""

    reserved: int
    replays: int


class _Replays(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def emit(self, entry: logging.LogRecord) -> None:
        self.count += entry.getMessage() == "retrying a transaction"


class _RolledBackError(Exception):
    pass


def _prepare(environment: Mapping[str, str], meeting: Barrier) -> None:
    global _meeting
    os.environ.update(environment)
    _meeting = meeting


def _work(case_id: int, form: BatesFormat, share: Sequence[Work]) -> Told:
    replays = _Replays()
    logger.addHandler(replays)
    assert _meeting
    _meeting.wait(60)
    for each in share:
        if each.rolled_back:
            roll_back(case_id, form, 5)
        steps.reserve({steps.PRODUCTION: each.production_id})
        if each.voided:
            failed = SagaEvent(SagaEventKind.FAILED, "copy", "so that its numbers are void")
            record_step_event(each.production_id, failed)
            steps.void({steps.PRODUCTION: each.production_id})
    return Told(len(share), replays.count)


def roll_back(case_id: int, form: BatesFormat, count: int) -> None:
    """Take numbers, and roll back."""
    with session() as preparing:
        ensure_sequence(preparing, case_id, form, count)
    try:
        with session() as transaction:
            allocate_numbers(transaction, case_id, form, count)
            raise _RolledBackError
    except _RolledBackError:
        pass


def at_once(processes: int, case_id: int, form: BatesFormat, work: Sequence[Work]) -> list[Told]:
    """Deal the work out to so many processes, which begin together."""
    arguments = (dict(os.environ), _FORKS.Barrier(processes))
    with ProcessPoolExecutor(processes, _FORKS, initializer=_prepare, initargs=arguments) as pool:
        shares = [pool.submit(_work, case_id, form, work[place::processes]) for place in range(processes)]
        return [share.result(120) for share in shares]
