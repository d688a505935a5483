"""Processes that give out numbers of one prefix at once, as many environments of a function do."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.synchronize import Barrier
from typing import NamedTuple

from core.productions.bates import BatesFormat
from core.saga import SagaEvent, SagaEventKind
from shell.db.bulk_insert import insert_new
from shell.db.session import session
from shell.observability import logger
from shell.productions import steps
from shell.productions.bates_sequences import allocate_numbers, ensure_sequence
from shell.productions.selection import list_selected_exhibits
from shell.productions.state import lock_production, record_step_event
from shell.tables.productions import Productions
from shell.utils.db_helpers import retry_on_db_conflict
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


def by_its_step(production_id: int) -> None:
    """As the saga does, with a place in the volume."""
    steps.reserve({steps.PRODUCTION: production_id})


@retry_on_db_conflict
def numbers_alone(production_id: int) -> None:
    """Without a place in a volume, so that the sequence is all that the processes meet on."""
    with session() as preparing:
        production = preparing.get_one(Productions, production_id)
        form = BatesFormat(production.prefix, production.digits)
        ensure_sequence(preparing, production.case_id, form, 1)
    with session() as transaction:
        production = lock_production(transaction, production_id)
        [exhibit] = list_selected_exhibits(transaction, production)
        taken = allocate_numbers(transaction, production.case_id, form, exhibit.numbers)
        row = (
            production_id,
            exhibit.exhibit_id,
            -production_id,
            0,
            taken.sequence_id,
            *taken.numbers,
            "{}",
            "reserved",
        )
        insert_new(transaction, "production_documents", steps._COLUMNS, [row])
        production.documents = 1


def _work(reserve: Callable[[int], None], case_id: int, form: BatesFormat, share: Sequence[Work]) -> Told:
    replays = _Replays()
    logger.addHandler(replays)
    assert _meeting
    _meeting.wait(60)
    for each in share:
        if each.rolled_back:
            roll_back(case_id, form, 5)
        reserve(each.production_id)
        if each.voided:
            record_step_event(
                each.production_id, SagaEvent(SagaEventKind.FAILED, "copy", "so that its numbers are void")
            )
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


def at_once(
    processes: int, reserve: Callable[[int], None], case_id: int, form: BatesFormat, work: Sequence[Work]
) -> list[Told]:
    """Deal the work out to so many processes, which begin together."""
    arguments = (dict(os.environ), _FORKS.Barrier(processes))
    with ProcessPoolExecutor(processes, _FORKS, initializer=_prepare, initargs=arguments) as pool:
        shares = [pool.submit(_work, reserve, case_id, form, work[place::processes]) for place in range(processes)]
        return [share.result(120) for share in shares]
