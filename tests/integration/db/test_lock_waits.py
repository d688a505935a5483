"""A wait that ends without the lock costs one statement; the transaction that goes on after it is half a one."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from shell.db.errors import DbErrorClass, classify, error_number
from shell.db.session import session
from shell.utils.db_helpers import retry_on_db_conflict
from tests.integration.db.held_locks import IMPATIENT, held
from tests.support.database.counted_database import PATIENCE_S, Database, pay

WAITING = "SELECT id FROM information_schema.processlist WHERE info LIKE 'UPDATE toy_accounts%'"
TIMED_OUT, KILLED = 1205, 1317


def move(transaction: Session) -> None:
    pay(transaction, 1, -10)
    pay(transaction, 2, 10)


def kill_who_waits(database: Database) -> None:
    database.until_waiting(1)
    database.query(f"KILL QUERY {database.scalar(WAITING)}")


@pytest.fixture(params=[TIMED_OUT, KILLED], ids=["timed out", "killed"])
def number(request: pytest.FixtureRequest, database: Database) -> Iterator[int]:
    """The error with which the application's next wait for a row ends."""
    database.accounts(0, 0)
    if request.param == TIMED_OUT:
        with session() as impatient:
            impatient.execute(IMPATIENT)
        yield TIMED_OUT
        return
    with ThreadPoolExecutor(1) as pool:
        killing = pool.submit(kill_who_waits, database)
        yield KILLED
        killing.result(PATIENCE_S)


def test_a_unit_whose_wait_was_in_vain_is_replayed_from_the_beginning(database: Database, number: int) -> None:
    attempts: list[int | None] = []
    with held(database, 2) as holder:

        @retry_on_db_conflict
        def unit() -> None:
            try:
                with session() as transaction:
                    move(transaction)
            except OperationalError as error:
                attempts.append(error_number(error))
                holder.rollback()
                raise

        unit()
    assert attempts == [number]
    assert database.balances() == [-10, 10]


def test_going_on_after_a_wait_in_vain_commits_half(database: Database, number: int) -> None:
    """The negative control."""
    with held(database, 2), session() as transaction, pytest.raises(OperationalError) as raised:
        move(transaction)
    assert error_number(raised.value) == number
    assert classify(raised.value) is DbErrorClass.TRANSACTION
    assert database.balances() == [-10, 0]
