"""Processes that give out numbers of one prefix at once, as many environments of a function do."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing.synchronize import Barrier
from typing import NamedTuple

from core.productions.bates import BatesFormat
from core.saga import SagaEvent, SagaEventKind
from shell.db.session import session
from shell.productions import steps
from shell.productions.bates_sequences import allocate_numbers, ensure_sequence
from shell.productions.state import record_step_event
from tests.support.api.client_processes import _FORKS

_meeting: Barrier | None = None


class Work(NamedTuple):
    """A production, whether its numbers end void, and whether another transaction rolls back before it."""

    production_id: int
    voided: bool
    rolled_back: bool


class _RolledBackError(Exception):
    pass


def _prepare(environment: Mapping[str, str], meeting: Barrier) -> None:
    global _meeting
    os.environ.update(environment)
    _meeting = meeting


def _work(case_id: int, form: BatesFormat, share: Sequence[Work]) -> None:
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


def roll_back(case_id: int, form: BatesFormat, count: int) -> None:
    """Take numbers, and roll back."""
    with session() as preparing:
        ensure_sequence(preparing, case_id, form, count)
    with suppress(_RolledBackError), session() as transaction:
        allocate_numbers(transaction, case_id, form, count)
        raise _RolledBackError


def at_once(processes: int, case_id: int, form: BatesFormat, work: Sequence[Work]) -> None:
    """Deal the work out to so many processes, which begin together."""
    arguments = (dict(os.environ), _FORKS.Barrier(processes))
    with ProcessPoolExecutor(processes, _FORKS, initializer=_prepare, initargs=arguments) as pool:
        shares = [pool.submit(_work, case_id, form, work[place::processes]) for place in range(processes)]
        for share in shares:
            share.result(120)
