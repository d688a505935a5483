"""Row locks: in one order, on rows that exist, seen as they are now, and nothing of the caller's lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from shell.db.bulk_insert import insert_new
from shell.db.session import engine, session
from shell.utils.db_helpers import acquire_lock_with_retry, retry_on_db_conflict
from tests.integration.db.held_locks import IMPATIENT, held
from tests.support.database.counted_database import Accounts, Database, barrier, outcome, pay, together, transaction


def lock_accounts(caller: Session, *ids: int) -> list[Accounts]:
    return acquire_lock_with_retry(caller, Accounts, ids, is_list_filter=True)


def test_a_helper_that_rolls_back_loses_what_its_caller_wrote(database: Database) -> None:
    """The negative control: the published helper ends the transaction of its caller, and tries again."""
    database.accounts(0, 0)
    lock = text("SELECT id FROM toy_accounts WHERE id = 1 FOR UPDATE NOWAIT")
    with held(database, 1) as holder, session() as caller:
        pay(caller, 2, 77)
        with pytest.raises(OperationalError):
            caller.execute(lock)
        caller.rollback()
        holder.rollback()
        caller.execute(lock)
    assert database.balances() == [0, 0], "the caller got a success"


def test_inside_its_callers_transaction_it_raises_and_the_whole_is_replayed(database: Database) -> None:
    database.accounts(0, 0)
    attempts: list[int] = []
    with held(database, 1) as holder:

        @retry_on_db_conflict
        def unit() -> None:
            attempts.append(1)
            try:
                with session() as caller:
                    caller.execute(IMPATIENT)
                    pay(caller, 2, 77)
                    lock_accounts(caller, 1)
            except OperationalError:
                holder.rollback()
                raise

        unit()
    assert len(attempts) == 2
    assert database.balances() == [0, 77]


def test_an_unflushed_object_counts_as_the_callers_transaction(database: Database) -> None:
    database.accounts(0)
    with held(database, 1), session() as caller:
        caller.execute(IMPATIENT)
        caller.commit()
        caller.add(Accounts(id=9, balance=77))
        with pytest.raises(OperationalError, match="1205"):
            lock_accounts(caller, 1)
        assert caller.get_one(Accounts, 9).balance == 77


def test_where_it_began_the_transaction_a_deadlock_is_tried_again(database: Database) -> None:
    database.accounts(0, 0)
    before = database.deadlocks()
    with database.environments(1) as (other,), Session(other) as holder, Session(engine()) as caller:
        pay(holder, 2, 1)
        # The server gives up the transaction that has changed less.
        holder.execute(text("INSERT INTO toy_payments (reference) VALUES (1), (2), (3), (4), (5)"))
        crossing = threading.Thread(target=lock_the_other_way, args=(database, holder))
        crossing.start()
        locked = lock_accounts(caller, 2, 1)
        crossing.join()
    assert database.deadlocks() - before == 1
    assert [row.balance for row in locked] == [1, 1]


def lock_the_other_way(database: Database, holder: Session) -> None:
    database.until_waiting(1)
    pay(holder, 1, 1)
    holder.commit()


def test_what_it_returns_is_what_is_locked_with_what_the_session_has_not_flushed_yet(database: Database) -> None:
    database.accounts(1)
    with session() as caller:
        read = caller.get_one(Accounts, 1)
        database.query("UPDATE toy_accounts SET balance = 2 WHERE id = 1")
        naive = caller.query(Accounts).filter_by(id=1).with_for_update().one()
        assert naive.balance == 1, "the naive lock returns what the session had read"
        (locked,) = lock_accounts(caller, 1)
        assert locked is read
        assert locked.balance == 2
        locked.balance = 5
        assert lock_accounts(caller, 1)[0].balance == 5
    assert database.balances() == [5]


@pytest.mark.parametrize(("ordered", "expected"), [(True, 0), (False, 1)])
def test_locks_in_one_order_do_not_deadlock(database: Database, ordered: bool, expected: int) -> None:
    database.accounts(0, 0)
    before, meeting = database.deadlocks(), barrier(2)

    def take(caller: Session, ids: Sequence[int]) -> None:
        meeting.wait()
        if ordered:
            lock_accounts(caller, *ids)
            return
        for each in ids:
            acquire_lock_with_retry(caller, Accounts, each)
            if each == ids[0]:
                meeting.wait()

    with database.environments(2) as (one, two), Session(one) as left, Session(two) as right:
        left.connection(), right.connection()
        ended = together(
            outcome(lambda: end(left, take, [1, 2])),
            outcome(lambda: end(right, take, [2, 1])),
        )
    assert database.deadlocks() - before == expected
    assert sum(isinstance(error, OperationalError) for error in ended) == expected


def end(caller: Session, take: Callable[[Session, Sequence[int]], None], ids: Sequence[int]) -> None:
    try:
        take(caller, ids)
    finally:
        caller.rollback()


@pytest.mark.parametrize(
    ("accounts", "requested"), [(3, [1, 3]), (300, [1, 300]), (300, range(1, 300)), (1600, range(1, 1501))]
)
def test_the_plan_reads_the_primary_key_of_the_requested_rows_alone_and_sorts_nothing(
    database: Database, accounts: int, requested: Sequence[int]
) -> None:
    statements: list[str] = []
    with session() as caller:
        insert_new(caller, Accounts.__tablename__, ("id",), [(number + 1,) for number in range(accounts)])
        event.listen(caller.connection(), "before_cursor_execute", lambda *a: statements.append(a[2] % a[3]))
        lock_accounts(caller, *requested)
    (plan,) = database.query("EXPLAIN FORMAT=TRADITIONAL " + statements[0])
    assert (plan.type, plan.key, int(plan.rows)) == ("range", "PRIMARY", len(requested))
    assert "filesort" not in plan.Extra


def test_a_lock_by_primary_key_does_not_wait_for_other_rows(database: Database) -> None:
    database.accounts(0, 0, 0)
    with held(database, 2), session() as caller:
        caller.execute(IMPATIENT)
        assert [row.id for row in lock_accounts(caller, 3, 1)] == [1, 3]
        with pytest.raises(OperationalError, match="1205"):
            caller.execute(text("SELECT id FROM toy_accounts WHERE note = 'unindexed' FOR UPDATE"))


def test_no_values_lock_nothing_and_ask_nothing(database: Database) -> None:
    with session() as caller:
        assert lock_accounts(caller) == []
        assert not caller.in_transaction()


def test_two_who_lock_a_parent_after_they_inserted_its_child_deadlock(database: Database) -> None:
    """The negative control: the insert's shared lock on the exhibit keeps each from the other's exclusive one."""
    database.query("INSERT INTO exhibits (id, case_id, control_number, import_id, line_no) VALUES (1, 1, 'A', 0, 1)")
    database.query("INSERT INTO tags (id, case_id, name) VALUES (1, 1, 'tag 1'), (2, 1, 'tag 2')")
    before, meeting = database.deadlocks(), barrier(2)

    def tag_and_edit(engine: Engine, tag: int) -> None:
        with transaction(engine) as caller:
            caller.execute(text(f"INSERT INTO taggings (exhibit_id, tag_id, user_id) VALUES (1, {tag}, 'u')"))
            meeting.wait()
            caller.execute(text("SELECT id FROM exhibits WHERE id = 1 FOR UPDATE"))

    with database.environments(2) as (one, two):
        together(outcome(lambda: tag_and_edit(one, 1)), outcome(lambda: tag_and_edit(two, 2)))
    assert database.deadlocks() - before == 1
