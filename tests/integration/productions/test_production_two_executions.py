"""Two executions of one production at once: its numbers are given out once, and it is confirmed or cancelled, once."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

import pytest

from shell.aws import clients
from shell.productions import documents
from tests.support.database import together
from tests.support.production_ends import Held, Meanwhile, end, passing_run
from tests.support.production_faults import (
    NUMBERS,
    PART_SIZE,
    Fault,
    Faulty,
    Hook,
    Point,
    assert_cancelled,
    assert_confirmed,
    both,
    cancelled_or_refused,
    is_closed,
    letters,
    nothing,
)
from tests.support.production_kills import Run, environments, execute_in
from tests.support.productions import ask, cancel, put_documents, status_of
from tests.support.world import World

SEED = 5
ROUNDS, PAIRS = 30, 100
FAULTS: list[Hook] = [nothing, Faulty((Fault("copy:2"),)), Faulty((Fault("confirm"),))]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two documents a part."""
    monkeypatch.setattr(documents, "PART_SIZE", PART_SIZE)


def assert_decided(world: World, production: int, prefix: str) -> str:
    """It is one or the other, wholly; what an execution left for another one is done by that."""
    if not is_closed(world, production):
        passing_run(production, nothing)
    status = status_of(world, production)
    (assert_confirmed if status == "confirmed" else assert_cancelled)(world, production, prefix)
    return status


def meetings(production: int) -> Iterator[tuple[int, int]]:
    """Where one execution is held, and where the other one is when that goes on; in an order of its own."""
    whole = Meanwhile(0, lambda: None)
    passing_run(production, whole)
    places = range(1, len(whole.points) + 1)
    every = list(product(places, places))
    random.Random(SEED).shuffle(every)
    yield from every


@pytest.mark.slow
def test_two_processes_make_one_production(world: World, fewer: int) -> None:
    put_documents(world, NUMBERS)
    with environments(world.environment) as one, environments(world.environment) as other:
        for number in range(ROUNDS // fewer):
            production = ask(prefix=letters(number))
            run = Run(production)
            together(lambda run=run: execute_in(one, run), lambda run=run: execute_in(other, run))  # type: ignore[misc]
            assert_confirmed(world, production, letters(number))


@pytest.mark.slow
def test_two_executions_that_meet_anywhere_decide_once(world: World, fewer: int) -> None:
    put_documents(world, NUMBERS)
    for number, (held_at, meet_at) in zip(range(PAIRS // fewer), meetings(ask(prefix="ALONE")), strict=False):
        production = ask(prefix=letters(number))
        held = Held(production, held_at, FAULTS[number % 3])
        passing_run(production, both(Meanwhile(meet_at, held.go_on), FAULTS[number // 3 % 3]))
        held.go_on()
        assert_decided(world, production, letters(number))


@pytest.mark.slow
def test_a_cancellation_while_two_executions_meet_is_obeyed_or_refused(world: World, fewer: int) -> None:
    put_documents(world, NUMBERS)
    for number, (held_at, meet_at) in zip(range(PAIRS // fewer), meetings(ask(prefix="ALONE")), strict=False):
        production = ask(prefix=letters(number))
        held = Held(production, held_at, nothing)
        obeyed: list[bool] = []
        cancelling = Meanwhile(meet_at, lambda p=production, o=obeyed: o.append(cancelled_or_refused(p)))  # type: ignore[misc]
        passing_run(production, cancelling)
        held.go_on()
        status = assert_decided(world, production, letters(number))
        assert (status == "cancelled") == any(obeyed)


def test_a_copy_that_comes_after_the_cancellation_is_deleted(world: World) -> None:
    put_documents(world, NUMBERS)
    production = ask()

    def late() -> None:
        passing_run(production, Faulty((Fault("confirm"),)))
        assert_cancelled(world, production)
        clients.s3().put_object(Bucket=world.bucket, Key=f"productions/{production}/VOL001/late", Body=b"late")

    passing_run(production, lambda point: late() if point == Point("copy:3", after=True) else None)
    assert_cancelled(world, production)


def test_a_late_execution_does_not_end_what_the_other_one_has_not_told(world: World) -> None:
    put_documents(world, NUMBERS)
    production = ask()
    held = Held(production, 12, nothing)
    passing_run(production, lambda point: end() if point == Point("notify") else None)
    held.go_on()
    assert not is_closed(world, production)
    passing_run(production, nothing)
    assert_confirmed(world, production)


def test_an_execution_that_comes_late_changes_nothing_of_what_is_confirmed(world: World) -> None:
    put_documents(world, NUMBERS)
    production = ask()
    held = Held(production, 12, Faulty((Fault("confirm"),)))
    passing_run(production, nothing)
    held.go_on()
    assert_confirmed(world, production)
    with pytest.raises(Exception, match="is confirmed"):
        cancel(production)
