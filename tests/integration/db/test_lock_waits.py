"""A wait that ends without the lock costs one statement; the transaction that goes on after it is half a one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from shell.db.errors import DbErrorClass, classify, error_number
from shell.db.session import session
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.database import Database, connection_id, outcome, pay, together, until

IMPATIENT = text("SET SESSION innodb_lock_wait_timeout = 1")
PATIENT = text("SET SESSION innodb_lock_wait_timeout = 10")


@contextmanager
def held(database: Database, account: int) -> Iterator[Session]:
    """Another transaction that holds the account's row."""
    with database.environments(1) as (other,), Session(other) as holder:
        pay(holder, account, 0)
        yield holder
        holder.rollback()


def move(transaction: Session) -> None:
    pay(transaction, 1, -10)
    pay(transaction, 2, 10)


@pytest.fixture
def impatient(database: Database) -> Iterator[None]:
    """The application's one connection waits for a second at most."""
    with session() as settled:
        settled.execute(IMPATIENT)
    yield
    with session() as settled:
        settled.execute(PATIENT)


@pytest.mark.usefixtures("impatient")
def test_a_wait_that_timed_out_is_replayed_from_the_beginning(database: Database) -> None:
    database.accounts(0, 0)
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
    assert attempts == [1205]
    assert database.balances() == [-10, 10]


@pytest.mark.usefixtures("impatient")
def test_going_on_after_a_wait_that_timed_out_commits_half(database: Database) -> None:
    database.accounts(0, 0)
    with held(database, 2), session() as transaction, pytest.raises(OperationalError, match="1205"):
        move(transaction)
    assert database.balances() == [-10, 0]


def test_nowait_says_so_by_each_servers_own_number(database: Database) -> None:
    database.accounts(0)
    with held(database, 1), session() as transaction:
        with pytest.raises(OperationalError) as raised:
            transaction.execute(text("SELECT id FROM toy_accounts WHERE id = 1 FOR UPDATE NOWAIT"))
        transaction.rollback()
    assert error_number(raised.value) == (3572 if database.is_mysql else 1205)
    assert classify(raised.value) is DbErrorClass.TRANSACTION


def test_a_query_that_was_killed_leaves_its_transaction_alive(database: Database) -> None:
    database.accounts(0, 0)
    with held(database, 2), database.environments(1) as (one,), Session(one) as naive:
        naive_id = connection_id(naive)
        pay(naive, 1, -10)
        raised, _ = together(outcome(lambda: pay(naive, 2, 10)), lambda: kill_when_waiting(database, naive_id))
        naive.commit()
    assert isinstance(raised, OperationalError)
    assert classify(raised) is DbErrorClass.TRANSACTION
    assert error_number(raised) == 1317
    assert database.balances() == [-10, 0], "the naive transaction that goes on is half a one"


def kill_when_waiting(database: Database, connection: int) -> None:
    database.until_waiting(1)
    database.query(f"KILL QUERY {connection}")


def test_a_unit_whose_query_was_killed_is_replayed_as_a_whole(database: Database) -> None:
    database.accounts(0, 0)
    connections: list[int] = []
    with held(database, 2) as holder:

        @retry_on_db_conflict
        def unit() -> None:
            with session() as transaction:
                connections.append(connection_id(transaction))
                move(transaction)

        def end_the_wait() -> None:
            until(lambda: bool(connections))
            kill_when_waiting(database, connections[0])
            holder.rollback()

        together(unit, end_the_wait)
    assert len(connections) > 1
    assert database.balances() == [-10, 10]
