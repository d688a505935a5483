"""How often and how soon a transaction is replayed: jittered from the first time, and never past the deadline."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool
from tenacity import RetryError, Retrying, stop_after_attempt, wait_exponential

from core.errors import (
    ConflictError,
    DatabaseUnavailableError,
    InvalidInputError,
    LockNotAcquiredError,
    TransactionConflictError,
)
from shell.db import session as db_session
from shell.db.session import session
from shell.deadline import invocation_deadline, seconds_left
from shell.observability import logger
from shell.settings import settings
from shell.utils.db_helpers import acquire_lock_with_retry, retry_on_db_conflict
from tests.support.database import Accounts, Database, pay
from tests.support.failing import Failing, Left, error_of, ours

pytestmark = pytest.mark.usefixtures("database")


def pauses(replaying: Retrying) -> list[float]:
    """The seconds that it would sleep between the attempts of a unit that always deadlocks."""
    slept: list[float] = []
    with pytest.raises((TransactionConflictError, RetryError)):
        replaying.copy(sleep=slept.append)(Failing(error_of(1213)))
    return slept


def test_pauses_are_spread_from_the_first_one_on() -> None:
    runs = [pauses(ours(5, 0.2)) for _ in range(300)]
    assert {len(run) for run in runs} == {4}
    for number, most in enumerate((0.2, 0.4, 0.8, 1.6)):
        slept = sorted(run[number] for run in runs)
        assert 0 <= slept[0] < most / 8
        assert most * 7 / 8 < slept[-1] <= most
        assert most * 0.4 < sum(slept) / len(slept) < most * 0.6


def test_a_pause_without_jitter_brings_both_victims_back_in_step() -> None:
    naive = Retrying(wait=wait_exponential(multiplier=0.2), stop=stop_after_attempt(5))
    assert pauses(naive) == pauses(naive)


def test_no_pause_is_longer_than_five_seconds() -> None:
    assert max(max(pauses(ours(12, 0.2))) for _ in range(20)) <= 5


def test_with_no_time_left_there_is_no_second_attempt() -> None:
    unit = Failing(error_of(1213))
    with (
        invocation_deadline(Left(2000)),
        pytest.raises(TransactionConflictError, match="unit failed in 1 attempt; the last conflict was error 1213"),
    ):
        retry_on_db_conflict(unit)()
    assert unit.tried == 1


def test_no_pause_reaches_past_the_deadline() -> None:
    with invocation_deadline(Left(2100)):
        slept = pauses(ours(1000, 100.0))
        assert sum(slept) < 0.1, "2.1 seconds less the margin of 2"


def test_without_a_deadline_it_would_sleep_until_the_function_is_killed() -> None:
    naive = Retrying(wait=wait_exponential(multiplier=0.2), stop=stop_after_attempt(5))
    with invocation_deadline(Left(2100)):
        assert sum(pauses(naive)) > seconds_left()


def test_real_pauses_end_before_the_deadline() -> None:
    started = time.monotonic()
    with invocation_deadline(Left(2100)), pytest.raises(TransactionConflictError):
        ours(10_000, 0.02)(Failing(error_of(1213)))
    assert time.monotonic() - started < 1


def test_a_unit_that_succeeds_in_the_last_attempt_succeeds() -> None:
    assert retry_on_db_conflict(Failing(error_of(1213), times=4))() == "done"


@pytest.mark.parametrize("number", [1054, 1064, 1146, 1290, 1406, 3819, 4025])
def test_the_type_operational_error_alone_is_no_reason_to_replay(number: int) -> None:
    unit = Failing(error_of(number))
    with pytest.raises(OperationalError):
        retry_on_db_conflict(unit)()
    assert unit.tried == 1


@pytest.mark.parametrize("number", [1030, 1105, 3024])
def test_an_internal_error_is_replayed_once(number: int) -> None:
    unit = Failing(error_of(number))
    with pytest.raises(DatabaseUnavailableError, match="failed in 2 attempts"):
        retry_on_db_conflict(unit)()
    assert unit.tried == 2


def test_a_conflict_of_our_own_is_replayed_and_raised_as_it_is() -> None:
    unit = Failing(ConflictError("stale"))
    with pytest.raises(ConflictError, match=r"^stale$"):
        retry_on_db_conflict(unit)()
    assert unit.tried == 5


def test_an_error_of_the_application_is_not_the_databases_whatever_number_it_carries() -> None:
    error = InvalidInputError("no")
    error.args = (1213, "no")
    unit = Failing(error)
    with pytest.raises(InvalidInputError):
        retry_on_db_conflict(unit)()
    assert unit.tried == 1


def test_number_of_attempts_is_a_setting(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_DEADLOCK_RETRY_ATTEMPTS", "2")
    settings.cache_clear()
    unit = Failing(error_of(1213))
    with pytest.raises(TransactionConflictError, match="failed in 2 attempts"):
        retry_on_db_conflict(unit)()
    assert unit.tried == 2


class Watching(logging.Handler):
    """Asks, when a replay is announced and its pause begins, whether the row is free and the connection is back."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self.seen: list[tuple[int, int]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Called before the pause."""
        free = self._database.query("SELECT id FROM toy_accounts WHERE id = 1 FOR UPDATE NOWAIT")
        pool = db_session.engine().pool
        assert isinstance(pool, QueuePool)
        self.seen.append((len(free), pool.checkedout()))


@pytest.fixture
def watching(database: Database) -> Iterator[Watching]:
    """What is free during the pauses between attempts."""
    handler = Watching(database)
    database.accounts(0, 0)
    logger.addHandler(handler)
    yield handler
    logging.getLogger(logger.service).removeHandler(handler)


def fail_twice(caller: Session, tried: list[int]) -> None:
    pay(caller, 1, 1)
    tried.append(1)
    if len(tried) < 3:
        raise error_of(1205)


def test_no_row_and_no_connection_is_held_during_the_pause(database: Database, watching: Watching) -> None:
    @retry_on_db_conflict
    def unit(tried: list[int]) -> None:
        with db_session.session() as caller:
            fail_twice(caller, tried)

    unit([])
    assert watching.seen == [(1, 0)] * 2
    assert database.balances() == [1, 0]


@pytest.mark.parametrize("by_name", [True, False])
def test_nor_where_the_caller_gave_its_session(database: Database, watching: Watching, by_name: bool) -> None:
    with Session(db_session.engine()) as given:
        unit = retry_on_db_conflict(fail_twice)
        unit(caller=given, tried=[]) if by_name else unit(given, [])
        given.commit()
    assert watching.seen == [(1, 0)] * 2
    assert database.balances() == [1, 0]


def test_nor_where_a_lock_was_asked_for_and_got_in_part(database: Database, watching: Watching) -> None:
    with database.environments(1) as (other,), Session(other) as holder, Session(db_session.engine()) as caller:
        pay(holder, 2, 1)
        caller.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))
        caller.commit()
        with pytest.raises(LockNotAcquiredError):
            acquire_lock_with_retry(caller, Accounts, [1, 2], is_list_filter=True, attempts=2)
    assert watching.seen == [(1, 0)]


def test_a_pause_inside_the_transaction_keeps_its_rows(database: Database, watching: Watching) -> None:
    naive = Retrying(stop=stop_after_attempt(3), before_sleep=lambda _: logger.warning("pause"))
    with db_session.session() as caller, pytest.raises(OperationalError, match=r"1205|3572"):
        naive(fail_twice, caller, [])


def test_no_attempt_begins_that_would_wait_for_its_lock_past_the_deadline(database: Database) -> None:
    database.accounts(0)
    attempts: list[int] = []

    @retry_on_db_conflict
    def unit() -> None:
        attempts.append(1)
        with session() as caller:
            caller.execute(text("SET SESSION innodb_lock_wait_timeout = 1"))
            pay(caller, 1, 1)

    with database.environments(1) as (other,), Session(other) as holder:
        pay(holder, 1, 1)
        with invocation_deadline(Left(3600)), pytest.raises(TransactionConflictError):
            unit()
    assert attempts == [1], "1.6 seconds may be spent, and an attempt waits for one"
