"""A cancellation is obeyed, or refused because the production is confirmed: never both, and never neither."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import event, text

from core.errors import CancelledError
from core.saga import SagaContext, SagaStep
from shell.db.session import engine, session
from shell.productions.commands import cancel_production
from shell.productions.saga import STEPS
from tests.support.application.driver import World
from tests.support.database.counted_database import PATIENCE_S, barrier
from tests.support.exhibits.stored_cases import Cases
from tests.support.productions.final_executions import Meanwhile, passing_run
from tests.support.productions.runs import CALLER, ask
from tests.support.productions.saga_faults import (
    Point,
    assert_cancelled,
    assert_confirmed,
    cancelled_or_refused,
    letters,
    nothing,
)

pytestmark = pytest.mark.usefixtures("small_parts")
CONFIRMED_AT = Point("confirm", after=True)
# Whether a cancellation there is obeyed.
STEP_POINTS = {Point("begin"): True, Point("copy:2", after=True): True, Point("confirm"): True, CONFIRMED_AT: False}


def assert_ended(world: World, production: int, prefix: str, obeyed: bool) -> None:
    """It is cancelled, or confirmed, and nothing else."""
    (assert_cancelled if obeyed else assert_confirmed)(world, production, prefix)


@pytest.mark.slow
def test_a_cancellation_between_any_two_checkpoints_is_obeyed_until_it_is_confirmed(world: World) -> None:
    whole = Meanwhile(0, lambda: None)
    passing_run(ask(prefix="WHOLE"), whole)
    confirmed = whole.points.index(CONFIRMED_AT) + 1
    for at in range(1, len(whole.points) + 1):
        production, obeyed = ask(prefix=letters(at)), list[bool]()
        passing_run(production, Meanwhile(at, lambda p=production, o=obeyed: o.append(cancelled_or_refused(p))))  # type: ignore[misc]
        assert obeyed == [at < confirmed]
        assert_ended(world, production, letters(at), at < confirmed)


def cancel_while_confirming(cases: Cases, pool: ThreadPoolExecutor, production: int) -> bool:
    """The cancellation waits for the confirmation, which has written everything and commits then."""
    pending: list[Callable[[float], bool]] = []

    def let_the_cancellation_come(_connection: object) -> None:
        pending.append(pool.submit(cancelled_or_refused, production).result)
        cases.database.until_waiting(1)

    def confirming(point: Point) -> None:
        if point == Point("confirm"):
            event.listen(engine(), "commit", let_the_cancellation_come, once=True)

    passing_run(production, confirming)
    return pending[0](PATIENCE_S)


def confirm_while_cancelling(cases: Cases, pool: ThreadPoolExecutor, production: int) -> bool:
    """The confirmation waits for the cancellation, which commits then."""
    meeting = barrier(2)

    def cancelling() -> bool:
        with session() as transaction:
            cancel_production(transaction, CALLER, production)
            meeting.wait()
            cases.database.until_waiting(1)
        return True

    pending = []

    def confirming(point: Point) -> None:
        if point == Point("confirm"):
            pending.append(pool.submit(cancelling))
            meeting.wait()

    passing_run(production, confirming)
    return pending[0].result(PATIENCE_S)


@pytest.mark.parametrize(("race", "expected"), [(cancel_while_confirming, False), (confirm_while_cancelling, True)])
def test_of_a_cancellation_and_a_confirmation_at_once_the_first_wins(
    world: World, cases: Cases, race: Callable[[Cases, ThreadPoolExecutor, int], bool], expected: bool
) -> None:
    production = ask()
    with ThreadPoolExecutor(1) as pool:
        assert race(cases, pool, production) == expected
    assert_ended(world, production, "ACME", expected)


def naive_confirm(context: SagaContext) -> SagaContext:
    """Checks first whether the production was cancelled, and confirms then: without a lock, and in two transactions."""
    production = {"p": context["production_id"]}
    with session() as reading:
        if reading.execute(text("SELECT cancel_requested FROM productions WHERE id = :p"), production).scalar_one():
            raise CancelledError()
    cancelled_or_refused(context["production_id"])
    with session() as transaction:
        transaction.execute(text("UPDATE productions SET status = 'confirmed' WHERE id = :p"), production)
    return {}


def test_a_confirmation_that_asks_without_a_lock_does_both(world: World) -> None:
    production = ask()
    steps: list[SagaStep] = [replace(each, execute=naive_confirm) if each.is_pivot else each for each in STEPS]
    passing_run(production, nothing, steps)
    pending = "SELECT status, cancel_requested FROM productions WHERE id = :p"
    assert tuple(world.query(pending, p=production)[0]) == ("confirmed", 1)
