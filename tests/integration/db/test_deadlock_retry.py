"""Transactions that deadlock for real are replayed as a whole, and only as a whole."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pymysql
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.orm import Session

from core.errors import TransactionConflictError
from shell.db.errors import DbErrorClass, classify
from shell.db.session import engine, session
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.database import Accounts, Database, Step, barrier, outcome, pay, together


def transfer(first: int, second: int, amount: int, met: Step) -> None:
    """Move money; `met` is called between the two updates."""
    with session() as transaction:
        pay(transaction, first, -amount)
        met()
        pay(transaction, second, amount)


def once(step: Step) -> Step:
    """The step for the first attempt alone: a replay must not wait for somebody who is done."""
    pending = [step]
    return lambda: pending and pending.pop()()


def crossing(unit: Callable[[int, int, int, Step], None]) -> list[Exception | None]:
    """Two transfers that take the same two rows in opposite order and meet in the middle; what became of each."""
    meeting = barrier(2)
    return together(
        outcome(lambda: unit(1, 2, 10, once(meeting.wait))), outcome(lambda: unit(2, 1, 3, once(meeting.wait)))
    )


@pytest.mark.slow
def test_two_transactions_that_deadlock_both_finish_and_money_is_kept(database: Database, race_counts: int) -> None:
    races = 1000 // race_counts
    database.accounts(0, 0)
    before = database.deadlocks()
    for _ in range(races):
        assert crossing(retry_on_db_conflict(transfer)) == [None, None]
    assert database.balances() == [-7 * races, 7 * races]
    assert database.deadlocks() - before == races


def test_without_replay_the_victim_is_lost(database: Database) -> None:
    database.accounts(0, 0)
    ended = crossing(transfer)
    assert [type(error) for error in ended].count(OperationalError) == 1
    assert sum(database.balances()) == 0
    assert database.balances() in ([-10, 10], [3, -3])


def test_the_number_stands_in_the_drivers_error_not_in_sqlalchemys(database: Database) -> None:
    database.accounts(0, 0)
    (error,) = (each for each in crossing(transfer) if isinstance(each, DBAPIError))
    assert error.args[0] != 1213, "the naive test is never true"
    assert error.orig is not None
    assert error.orig.args[0] == 1213
    assert classify(error) is DbErrorClass.TRANSACTION


def deadlock_as_victim(victim: Session, other: Session, inner: Callable[[Session], None]) -> None:
    """Deadlock the two sessions in a way that makes `victim` the one that the server gives up."""
    pay(victim, 1, 100)
    for _ in range(3):
        # The server gives up whoever has changed less.
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


def test_a_deadlock_inside_a_savepoint_says_1305_and_is_a_conflict_all_the_same(database: Database) -> None:
    database.accounts(0, 0)
    with database.environments(2) as (one, two), Session(one) as victim, Session(two) as other:
        with pytest.raises(OperationalError) as raised:
            deadlock_as_victim(victim, other, in_savepoint)
        other.rollback()
    assert raised.value.orig is not None
    assert raised.value.orig.args[0] == 1305, "a classifier of 1213 alone calls it permanent"
    assert classify(raised.value) is DbErrorClass.TRANSACTION


def test_going_on_after_such_a_savepoint_commits_half(database: Database) -> None:
    database.accounts(0, 0)
    with database.environments(2) as (one, two), Session(one) as victim, Session(two) as other:
        with pytest.raises(OperationalError):
            deadlock_as_victim(victim, other, in_savepoint)
        other.rollback()
        victim.execute(text("INSERT INTO toy_payments (reference) VALUES (999)"))
        victim.commit()
    assert database.balances() == [0, 0], "the first update is gone"
    assert database.scalar("SELECT COUNT(*) FROM toy_payments WHERE reference = 999") == 1, "the last one is not"


def transfer_in_savepoint(first: int, second: int, amount: int, met: Step) -> None:
    with session() as transaction:
        pay(transaction, first, -amount)
        met()
        with transaction.begin_nested():
            pay(transaction, second, amount)


def test_a_deadlock_inside_a_savepoint_is_replayed_as_a_whole(database: Database, race_counts: int) -> None:
    races = 200 // race_counts
    database.accounts(0, 0)
    before = database.deadlocks()
    for _ in range(races):
        assert crossing(retry_on_db_conflict(transfer_in_savepoint)) == [None, None]
    assert database.balances() == [-7 * races, 7 * races]
    assert database.deadlocks() - before == races


def test_a_replay_inside_a_replay_does_not_multiply_attempts(database: Database) -> None:
    tries: list[str] = []

    @retry_on_db_conflict
    def inner() -> None:
        tries.append("inner")
        raise deadlock_error()

    @retry_on_db_conflict
    def outer() -> None:
        tries.append("outer")
        inner()

    with pytest.raises(TransactionConflictError, match="outer failed in 5 attempts; the last conflict was error 1213"):
        outer()
    assert tries == ["outer", "inner"] * 5


def test_every_attempt_reads_anew(database: Database) -> None:
    database.accounts(1, 0)
    seen: list[int] = []

    @retry_on_db_conflict
    def unit() -> None:
        with session() as transaction:
            found = transaction.execute(text("SELECT balance FROM toy_accounts WHERE id = 1")).scalar_one()
            seen.append(found)
            if len(seen) == 1:
                database.query("UPDATE toy_accounts SET balance = 2 WHERE id = 1")
                raise deadlock_error()

    unit()
    assert seen == [1, 2]


def test_row_objects_of_the_first_attempt_are_stale_in_the_second(database: Database) -> None:
    database.accounts(1, 0)
    with Session(engine(), expire_on_commit=False) as reading:
        kept = reading.get_one(Accounts, 1)
    database.query("UPDATE toy_accounts SET balance = 2 WHERE id = 1")
    with session() as transaction:
        transaction.merge(kept, load=False)
        assert kept.balance == 1, "the naive unit decides by what is no longer so"


def deadlock_error() -> OperationalError:
    return OperationalError("UPDATE", {}, pymysql.err.OperationalError(1213, "Deadlock found when trying to get lock"))
