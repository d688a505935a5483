"""Transactions that deadlock for real are replayed as a whole, and only as a whole."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from shell.db.errors import DbErrorClass, classify, error_number
from shell.db.session import session
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.database.counted_database import Database, Step, barrier, outcome, pay, together


def transfer(first: int, second: int, amount: int, met: Step) -> None:
    """Move money; `met` is called between the two updates."""
    with session() as transaction:
        pay(transaction, first, -amount)
        met()
        pay(transaction, second, amount)


def once(step: Step) -> Step:
    """The step for the first attempt alone: a replay must not wait for a transaction that has ended."""
    pending = [step]
    return lambda: pending and pending.pop()()


def crossing(unit: Callable[[int, int, int, Step], None]) -> list[Exception | None]:
    """Two transfers that take the same two rows in opposite order and meet in the middle; the result of each."""
    meeting = barrier(2)
    return together(
        outcome(lambda: unit(1, 2, 10, once(meeting.wait))), outcome(lambda: unit(2, 1, 3, once(meeting.wait)))
    )


def transfer_in_savepoint(first: int, second: int, amount: int, met: Step) -> None:
    with session() as transaction:
        pay(transaction, first, -amount)
        met()
        with transaction.begin_nested():
            pay(transaction, second, amount)


@pytest.mark.parametrize("unit", [transfer, transfer_in_savepoint])
def test_two_transactions_that_deadlock_both_finish_and_money_is_kept(
    database: Database, unit: Callable[[int, int, int, Step], None]
) -> None:
    races = 3
    database.accounts(0, 0)
    before = database.deadlocks()
    for _ in range(races):
        assert crossing(retry_on_db_conflict(unit)) == [None, None]
    assert database.balances() == [-7 * races, 7 * races]
    assert database.deadlocks() - before == races


def test_without_a_retry_the_victim_is_lost(database: Database) -> None:
    database.accounts(0, 0)
    (error,) = (each for each in crossing(transfer) if isinstance(each, DBAPIError))
    assert error_number(error) == 1213
    assert database.balances() in ([-10, 10], [3, -3])


def deadlock_as_victim(victim: Session, other: Session, inner: Callable[[Session], None]) -> None:
    """Deadlock the two sessions in a way that makes `victim` the one that the server gives up."""
    pay(victim, 1, 100)
    for _ in range(3):
        # The server gives up the transaction that has changed less.
        other.execute(text("INSERT INTO toy_payments (reference) VALUES (1), (2), (3), (4), (5)"))
    pay(other, 2, 1)
    blocked = threading.Thread(target=pay, args=(other, 1, 1))
    blocked.start()
    try:
        inner(victim)
    finally:
        blocked.join()


def in_savepoint(session: Session) -> None:
    with session.begin_nested():
        pay(session, 2, 100)


def test_a_deadlock_inside_a_savepoint_says_1305_and_going_on_after_it_commits_half(database: Database) -> None:
    database.accounts(0, 0)
    with database.environments(2) as (one, two), Session(one) as victim, Session(two) as other:
        with pytest.raises(OperationalError) as raised:
            deadlock_as_victim(victim, other, in_savepoint)
        other.rollback()
        victim.execute(text("INSERT INTO toy_payments (reference) VALUES (999)"))
        victim.commit()
    assert error_number(raised.value) == 1305, "a classifier of 1213 alone calls it permanent"
    assert classify(raised.value) is DbErrorClass.TRANSACTION
    assert database.balances() == [0, 0], "the naive transaction's first update is gone"
    assert database.scalar("SELECT COUNT(*) FROM toy_payments WHERE reference = 999") == 1, "its last one is not"
