"""How often and how soon a unit is retried: with jitter from the first time, patiently, never past the deadline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
import tenacity.nap
import tenacity.wait
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm.exc import StaleDataError
from tenacity import RetryError, Retrying, stop_after_attempt, wait_exponential

from core.errors import ConflictError, DatabaseUnavailableError, DatabaseWakingError, TransactionConflictError
from shell import deadline
from shell.db import retry
from shell.deadline import invocation_deadline
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.utils.failing_units import Clock, Failing, Left, error_of, ours

NAIVE = Retrying(wait=wait_exponential(multiplier=0.2), stop=stop_after_attempt(7))
STALE = StaleDataError()
CONFLICT = error_of(1213)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The only clock there is."""
    made = Clock()
    for module in (retry, deadline, tenacity.nap):
        monkeypatch.setattr(module, "time", made)
    use(monkeypatch, attempts=5)
    return made


def use(monkeypatch: pytest.MonkeyPatch, attempts: int) -> None:
    given = SimpleNamespace(deadlock_retry_attempts=attempts, deadlock_retry_delay=0.2)
    monkeypatch.setattr(retry, "settings", lambda: given)


@pytest.fixture
def lows(monkeypatch: pytest.MonkeyPatch) -> set[float]:
    """Each pause is as long as it may be; the shortest that each might have been."""
    drawn: set[float] = set()

    def uniform(low: float, high: float) -> float:
        drawn.add(low)
        return high

    monkeypatch.setattr(tenacity.wait, "random", SimpleNamespace(uniform=uniform))
    return drawn


def raising(errors: Iterator[Exception]) -> Callable[[], None]:
    def unit() -> None:
        raise next(errors)

    return unit


@pytest.mark.parametrize(
    ("errors", "longest"),
    [
        ([CONFLICT] * 8, [0.2, 0.4, 0.8, 1.6, 3.2, 5, 5]),
        ([error_of(2003)] * 6 + [CONFLICT] * 8, [0.2, 0.4, 0.8, 1.6, 2, 2, *[5] * 7]),
        ([STALE] * 3, [0.1, 0.2]),
        ([*[error_of(2003)] * 5, *[STALE] * 3], [0.2, 0.4, 0.8, 1.6, 2, 1, 1]),
    ],
    ids=["deadlocks", "no server", "stale versions", "stale versions late"],
)
def test_every_pause_is_anything_up_to_a_bound_that_doubles(
    errors: list[Exception], longest: list[float], lows: set[float], clock: Clock
) -> None:
    with pytest.raises(TransactionConflictError):
        ours(8, 0.2)(raising(iter(errors)))
    assert clock.pauses == pytest.approx(longest)
    assert lows == {0}


def test_a_pause_without_jitter_brings_both_victims_back_in_step(clock: Clock) -> None:
    for _victim in range(2):
        with pytest.raises(RetryError):
            NAIVE.copy()(Failing(CONFLICT))
    assert clock.pauses[:6] == clock.pauses[6:]


@pytest.mark.parametrize(
    ("error", "tried", "raised", "message"),
    [
        (CONFLICT, 5, TransactionConflictError, "^unit failed in 5 attempts; the last conflict was error 1213.$"),
        (STALE, 3, TransactionConflictError, "in 3 attempts; each time another transaction had changed the row.$"),
        (ConflictError("of our own"), 5, ConflictError, "^of our own$"),
        # What kills its own connection, such as a statement that is too long for the server, is no failover.
        (error_of(2013), 5, DatabaseUnavailableError, "failed in 5 attempts"),
        *((error_of(number), 2, DatabaseUnavailableError, "failed in 2 attempts") for number in (1030, 1105, 3024)),
        *((error_of(number), 1, OperationalError, str(number)) for number in (1054, 1064, 1146, 1406, 3819, 4025)),
    ],
    ids=str,
)
def test_how_often_depends_on_the_error(error: Exception, tried: int, raised: type[Exception], message: str) -> None:
    unit = Failing(error)
    with pytest.raises(raised, match=message) as last:
        retry_on_db_conflict(unit)()
    assert unit.tried == tried
    assert last.type is raised, "no server to write to is another error"


@pytest.mark.parametrize("error", [CONFLICT, STALE], ids=["deadlock", "stale"])
def test_fewer_attempts_of_the_settings_hold_for_every_error(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, attempts=2)
    unit = Failing(error)
    with pytest.raises(TransactionConflictError, match="failed in 2 attempts"):
        retry_on_db_conflict(unit)()
    assert unit.tried == 2


def test_a_retry_inside_a_retry_does_not_multiply_attempts() -> None:
    tries: list[str] = []

    @retry_on_db_conflict
    def inner() -> None:
        tries.append("inner")
        raise CONFLICT

    @retry_on_db_conflict
    def outer() -> None:
        tries.append("outer")
        inner()

    with pytest.raises(TransactionConflictError, match="outer failed in 5 attempts"):
        outer()
    assert tries == ["outer", "inner"] * 5


def test_while_there_is_no_server_attempts_are_not_counted() -> None:
    numbers = [1213, *[2003] * 20, 1213, *[1836] * 20, 1205, 1213]
    errors = iter([error_of(number) for number in numbers])

    def unit() -> str:
        for error in errors:
            raise error
        return "done"

    assert ours(5, 0.2).copy(sleep=lambda _: None)(unit) == "done", "four of these errors count"


@pytest.mark.parametrize("number", [1290, 1792, 1836, 2003])
def test_a_server_to_write_to_is_waited_for_a_minute(clock: Clock, number: int) -> None:
    with pytest.raises(DatabaseWakingError, match=f"resuming after a pause.* the last error was {number}"):
        retry_on_db_conflict(Failing(error_of(number)))()
    assert 58 < clock.now <= 60, "300 times the first pause, less a last one"


def test_a_server_is_waited_for_longer_if_the_attempts_of_the_settings_take_longer(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, attempts=200)
    unit = Failing(error_of(2003))
    with pytest.raises(DatabaseWakingError, match="in 200 attempts"):
        retry_on_db_conflict(unit)()
    assert unit.tried == 200
    assert clock.now > 60


@pytest.mark.parametrize("number", [1213, 2003])
def test_no_pause_reaches_past_the_deadline(clock: Clock, number: int) -> None:
    unit = Failing(error_of(number))
    with invocation_deadline(Left(12_000)), pytest.raises(TransactionConflictError):
        ours(1000, 0.2)(unit)
    assert unit.tried >= 5
    assert clock.now < 10, "two seconds are kept back"


def test_without_a_deadline_it_sleeps_until_the_function_is_killed(clock: Clock) -> None:
    """The negative control."""
    with invocation_deadline(Left(12_000)), pytest.raises(RetryError):
        NAIVE.copy()(Failing(CONFLICT))
    assert clock.now > 12


@pytest.mark.parametrize(("attempt_s", "tried"), [(0.0, 4), (1.0, 1)])
@pytest.mark.usefixtures("lows")
def test_no_attempt_begins_that_may_take_longer_than_is_left(clock: Clock, attempt_s: float, tried: int) -> None:
    """The next attempt may wait for a lock as long as the longest one before it."""
    unit = Failing(CONFLICT)

    def slow() -> None:
        clock.now += attempt_s
        unit()

    with invocation_deadline(Left(3_600)), pytest.raises(TransactionConflictError):
        retry_on_db_conflict(slow)()
    assert unit.tried == tried
