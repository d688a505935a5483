"""How long a unit waits for a database that has no writer: as long as a failover takes, and never past the deadline."""

from __future__ import annotations

import time

import pymysql
import pytest
from sqlalchemy.exc import OperationalError

from core.errors import DatabaseUnavailableError
from shell.deadline import invocation_deadline
from shell.settings import settings
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.failing import Failing, Left, error_of, ours

pytestmark = pytest.mark.usefixtures("database")


def test_while_there_is_no_server_attempts_are_not_counted() -> None:
    errors = iter([1213, *[2003] * 20, 1213, *[1836] * 20, 1205, 1213])

    def unit() -> str:
        for number in errors:
            raise error_of(number)
        return "done"

    assert ours(5, 0.2).copy(sleep=lambda _: None)(unit) == "done", "four of these errors count"


@pytest.mark.parametrize("number", [1290, 1792, 1836, 2003])
def test_it_is_waited_for_three_hundred_times_the_first_pause(number: int) -> None:
    began = time.monotonic()
    unit = Failing(OperationalError("UPDATE", {}, pymysql.err.OperationalError(number, "--read-only")))
    with pytest.raises(DatabaseUnavailableError, match=f"the last error was {number}"):
        retry_on_db_conflict(unit)()
    assert 0.5 < time.monotonic() - began < 2, "at 2 ms; at the default of 200 ms it is a minute"
    assert unit.tried > 20


def test_no_pause_before_the_next_login_is_longer_than_ten_times_the_first() -> None:
    slept: list[float] = []
    assert ours(5, 0.2).copy(sleep=slept.append)(Failing(error_of(2003), times=60)) == "done"
    assert 1 < max(slept) <= 2
    assert min(slept[5:]) < 0.4, "spread, for all functions come back at once"


def test_what_is_waited_for_ends_before_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_DEADLOCK_RETRY_DELAY", "0.02")
    settings.cache_clear()
    unit, began = Failing(error_of(2003)), time.monotonic()
    with invocation_deadline(Left(2400)), pytest.raises(DatabaseUnavailableError):
        retry_on_db_conflict(unit)()
    assert time.monotonic() - began < 2.4, "then the function is killed; patience alone would be 6 s"
    assert unit.tried > 5


def test_a_connection_that_every_attempt_loses_again_is_no_failover() -> None:
    """What kills its own connection, such as a statement that is too long for the server, is not tried for a minute."""
    unit = Failing(error_of(2013))
    with pytest.raises(DatabaseUnavailableError, match="failed in 5 attempts"):
        retry_on_db_conflict(unit)()
