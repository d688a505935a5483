"""During the pause before a retry no session waits for us: no row is locked, and no connection is kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool
from tenacity import Retrying, stop_after_attempt

from core.errors import LockNotAcquiredError
from shell.db.session import engine, session
from shell.observability import logger
from shell.utils.db_helpers import acquire_lock_with_retry, retry_on_db_conflict
from tests.integration.db.held_locks import IMPATIENT, held
from tests.support.database.counted_database import Accounts, Database, pay
from tests.support.utils.failing_units import error_of


class Watching(logging.Handler):
    """Asks, when a retry is announced and its pause begins, whether the row is free and the connection is back."""

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self.seen: list[tuple[int, int]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Called before the pause."""
        free = self._database.query("SELECT id FROM toy_accounts WHERE id = 1 FOR UPDATE NOWAIT")
        pool = engine().pool
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


@retry_on_db_conflict
def with_its_own_session(tried: list[int]) -> None:
    with session() as caller:
        fail_twice(caller, tried)


def with_a_given_session(tried: list[int]) -> None:
    with Session(engine()) as given:
        retry_on_db_conflict(fail_twice)(given, tried)
        given.commit()


def with_a_session_given_by_name(tried: list[int]) -> None:
    with Session(engine()) as given:
        retry_on_db_conflict(fail_twice)(caller=given, tried=tried)
        given.commit()


@pytest.mark.parametrize("unit", [with_its_own_session, with_a_given_session, with_a_session_given_by_name])
def test_no_row_and_no_connection_is_held_during_the_pause(
    database: Database, watching: Watching, unit: Callable[[list[int]], None]
) -> None:
    unit([])
    assert watching.seen == [(1, 0)] * 2
    assert database.balances() == [1, 0]


def test_nor_where_a_lock_was_requested_and_granted_in_part(database: Database, watching: Watching) -> None:
    with held(database, 2), Session(engine()) as caller:
        caller.execute(IMPATIENT)
        caller.commit()
        with pytest.raises(LockNotAcquiredError, match=r"^Failed to acquire lock after 2 attempts$"):
            acquire_lock_with_retry(caller, Accounts, [1, 2], is_list_filter=True, attempts=2)
    assert watching.seen == [(1, 0)]


def test_a_pause_inside_the_transaction_keeps_its_rows(watching: Watching) -> None:
    """The negative control."""
    naive = Retrying(stop=stop_after_attempt(3), before_sleep=lambda _: logger.warning("pause"))
    with session() as caller, pytest.raises(OperationalError, match=r"1205|3572"):
        naive(fail_twice, caller, [])
