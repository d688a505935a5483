"""A cancellation is obeyed, or refused because the production is confirmed: never both, and never neither."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
from sqlalchemy import text

from core.errors import CancelledError
from core.saga import SagaContext, SagaStep
from shell.db.session import session
from shell.productions import documents
from shell.productions.saga import STEPS
from tests.support.database import barrier, together
from tests.support.production_ends import Meanwhile, passing_run
from tests.support.production_faults import (
    FORWARD,
    NUMBERS,
    PART_SIZE,
    Point,
    around,
    assert_cancelled,
    assert_confirmed,
    cancelled_or_refused,
    handler_of,
    letters,
    nothing,
)
from tests.support.productions import ask, execute, put_documents, status_of
from tests.support.world import World

SEED, ROUNDS = 3, 50
STEP_POINTS = [Point(name, after) for name, after in product(FORWARD, (False, True))]
CONFIRMED_AT = Point("confirm", after=True)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two documents a part."""
    monkeypatch.setattr(documents, "PART_SIZE", PART_SIZE)


def assert_ended(world: World, production: int, prefix: str, obeyed: bool) -> None:
    """It is cancelled, or confirmed, and nothing else."""
    (assert_cancelled if obeyed else assert_confirmed)(world, production, prefix)


@pytest.mark.slow
def test_a_cancellation_between_any_two_checkpoints_is_obeyed_until_it_is_confirmed(
    world: World, race_counts: int
) -> None:
    put_documents(world, NUMBERS)
    whole = Meanwhile(0, lambda: None)
    passing_run(ask(prefix="WHOLE"), whole)
    confirmed = whole.points.index(CONFIRMED_AT) + 1
    every = range(1, len(whole.points) + 1)
    chosen = {*random.Random(SEED).sample(every, -(-len(every) // race_counts)), confirmed - 1, confirmed}
    for at in sorted(chosen):
        production, obeyed = ask(prefix=letters(at)), list[bool]()
        passing_run(production, Meanwhile(at, lambda p=production, o=obeyed: o.append(cancelled_or_refused(p))))  # type: ignore[misc]
        assert obeyed == [at < confirmed]
        assert_ended(world, production, letters(at), at < confirmed)


@pytest.mark.parametrize("at", STEP_POINTS, ids=str)
def test_on_the_engine_it_is_the_same(world: World, at: Point) -> None:
    put_documents(world, NUMBERS)
    production, obeyed = ask(), list[bool]()
    steps = around(lambda point: obeyed.append(cancelled_or_refused(production)) if point == at else None)
    expected = STEP_POINTS.index(at) < STEP_POINTS.index(CONFIRMED_AT)
    assert execute(production, handler_of(steps))["status"] == ("cancelled" if expected else "confirmed")
    assert obeyed == [expected]
    assert_ended(world, production, "ACME", expected)


@pytest.mark.slow
def test_a_cancellation_races_the_confirmation_and_one_of_them_wins(world: World, race_counts: int) -> None:
    put_documents(world, NUMBERS)
    won = []
    for number in range(ROUNDS // race_counts):
        production, meeting = ask(prefix=letters(number)), barrier(2)

        def confirming(production: int = production, meeting: object = meeting) -> bool:
            passing_run(production, lambda point: meeting.wait() if point == Point("confirm") else None)  # type: ignore[attr-defined]
            return status_of(world, production) == "confirmed"

        def cancelling(production: int = production, meeting: object = meeting) -> bool:
            meeting.wait()  # type: ignore[attr-defined]
            return cancelled_or_refused(production)

        confirmed, obeyed = together(confirming, cancelling)
        assert confirmed != obeyed
        assert_ended(world, production, letters(number), obeyed)
        won.append(obeyed)
    print(f"{sum(won)} of {len(won)} cancelled")


def naive_confirm(context: SagaContext) -> SagaContext:
    """Asks first whether somebody has cancelled it, and confirms then: without a lock, and in two transactions."""
    production = {"p": context["production_id"]}
    with session() as reading:
        if reading.execute(text("SELECT cancel_requested FROM productions WHERE id = :p"), production).scalar_one():
            raise CancelledError()
    cancelled_or_refused(context["production_id"])
    with session() as transaction:
        transaction.execute(text("UPDATE productions SET status = 'confirmed' WHERE id = :p"), production)
    return {}


def test_a_confirmation_that_asks_without_a_lock_does_both(world: World) -> None:
    put_documents(world, NUMBERS)
    production = ask()
    steps: list[SagaStep] = [replace(each, execute=naive_confirm) if each.is_pivot else each for each in STEPS]
    passing_run(production, nothing, steps)
    asked = "SELECT status, cancel_requested FROM productions WHERE id = :p"
    assert tuple(world.query(asked, p=production)[0]) == ("confirmed", 1)
