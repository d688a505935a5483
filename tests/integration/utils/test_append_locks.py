"""A destination's lock: one holder at a time, no wait for ever, and none for oneself."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from core.errors import LockNotAcquiredError
from shell.deadline import invocation_deadline
from shell.utils.advisory_lock import exclusive_connection, get_lock, insert_lock_name, table_insert_lock
from tests.support.database.counted_database import PATIENCE_S, Database, barrier, outcome, together, until
from tests.support.utils.destination_appends import append, executed, holder, lock_of, until_queueing
from tests.support.utils.failing_units import Left

WAITING = "SELECT MAX(id) FROM information_schema.processlist WHERE state = 'User lock' AND db = DATABASE()"


def test_a_wait_that_is_too_long_reports_for_what_how_long_and_what_to_do(
    database: Database, other: ThreadPoolExecutor
) -> None:
    def impatient() -> object:
        with invocation_deadline(Left(3900)):
            return outcome(lambda: lock_of("volume"))()

    with table_insert_lock("volume") as lock:
        refused = other.submit(impatient).result(PATIENCE_S)
    assert isinstance(refused, LockNotAcquiredError)
    said = str(refused)
    what = f"the insert lock of destination {lock.destination_id} is held by another connection"
    assert re.match(rf"{what}; waited \d+\.\d s\. ", said)
    assert "Try again later" in said
    assert insert_lock_name(lock.advisory_id) in said
    assert "volume" not in said


@pytest.mark.parametrize(
    ("remaining", "longest_wait", "lifetime"), [(Left(60_000), 30, 65), (Left(0), 0, 5), (None, 30, 86_400)]
)
def test_the_wait_is_half_a_minute_at_most_and_the_connection_lives_five_seconds_longer_than_the_invocation(
    database: Database, remaining: Left | None, longest_wait: int, lifetime: int
) -> None:
    with executed() as seen, invocation_deadline(remaining):
        lock_of("volume")
    assert {each.parameters["timeout"] for each in seen if "GET_LOCK" in each.statement} == {longest_wait}
    assert [each.parameters["seconds"] for each in seen if "wait_timeout" in each.statement] == [lifetime]


def test_several_destinations_are_locked_once_each_in_the_order_of_their_names(database: Database) -> None:
    with table_insert_lock("a"), table_insert_lock("b"):
        pass
    for destination, said in (("b", "lock a destination once"), ("a", "order of their names")):
        with table_insert_lock("b"), pytest.raises(RuntimeError, match=said):
            lock_of(destination)
    assert lock_of("b").fencing_token == 4


def test_without_an_order_two_who_want_two_destinations_wait_in_vain(database: Database) -> None:
    """The negative control: each lock has a connection of its own, so no server sees the circle."""
    both = barrier(2)

    def crossing(first: str, second: str) -> str:
        with exclusive_connection(first, 0):
            both.wait()
            taken = outcome(lambda: _taken(second, 0))()
            both.wait()
        return str(taken)

    refused = together(lambda: crossing("a", "b"), lambda: crossing("b", "a"))
    assert all("held by another connection" in each for each in refused)


def _taken(name: str, timeout_s: int) -> None:
    with exclusive_connection(name, timeout_s):
        pass


def test_a_circle_of_locks_is_no_deadlock_of_rows(database: Database) -> None:
    """MySQL says 3058 and MariaDB 1213, where one connection holds a lock and waits for another."""
    both, made = barrier(2), create_engine(database.url, poolclass=NullPool)

    def crossing(first: str, second: str) -> None:
        with made.connect() as connection:
            get_lock(connection, first, 0, first)
            both.wait()
            get_lock(connection, second, 20, second)

    tried = together(outcome(lambda: crossing("a", "b")), outcome(lambda: crossing("b", "a")))
    refused = [each for each in tried if each is not None]
    assert [type(each) for each in refused] == [LockNotAcquiredError]
    assert "would deadlock" in str(refused[0])


# MariaDB answers NULL to a wait that is broken off, which is neither 0 nor 1, and MySQL says 1317.
@pytest.mark.parametrize("statement", ["KILL QUERY :waiting", "KILL :waiting"])
def test_a_caller_interrupted_while_waiting_has_no_lock_and_repeats_its_unit(
    database: Database, other: ThreadPoolExecutor, statement: str
) -> None:
    with table_insert_lock("volume") as lock:
        waiting = other.submit(append, "volume", 1)
        until_queueing(database)
        first = database.scalar(WAITING)
        database.query(statement, waiting=first)
        until(lambda: database.scalar(WAITING) not in (first, None))
        assert holder(database, lock) is not None
    assert waiting.result(PATIENCE_S).fencing_token == lock.fencing_token + 1
