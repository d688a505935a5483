"""An execution goes on with what another one left in the database, wherever that ended; it knows nothing else of it."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from shell.productions import documents
from tests.support.production_ends import Ending, end, passing_run
from tests.support.production_faults import (
    NUMBERS,
    PART_SIZE,
    Fault,
    Faulty,
    Hook,
    Point,
    assert_cancelled,
    assert_confirmed,
    assert_needs_attention,
    both,
    cancelled_or_refused,
    letters,
    nothing,
)
from tests.support.productions import ask, cancel, execute, put_documents, retry, status_of
from tests.support.world import World

SEED = 27


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two documents a part."""
    monkeypatch.setattr(documents, "PART_SIZE", PART_SIZE)


def faults(*given: Fault) -> Callable[[int], Hook]:
    """Faults in any production."""
    return lambda _production: Faulty(given)


def undisturbed(_production: int) -> Hook:
    """Nothing happens."""
    return nothing


def cancelled_in_copying(production: int) -> Hook:
    """Somebody cancels the production when its first part is copied."""
    return lambda point: cancel(production) if point == Point("copy:1", after=True) else None


FIRST = {
    "undisturbed": undisturbed,
    "failing": faults(Fault("copy:2")),
    "failing at the end": faults(Fault("confirm")),
    "cancelled": cancelled_in_copying,
    "not undone": faults(Fault("copy:2"), Fault("undo reserve")),
    "not told": faults(Fault("notify")),
}
SECOND = (
    *(Fault(at) for at in ("begin", "reserve", "copy:1", "copy:3", "confirm")),
    *(Fault(at, after=True) for at in ("reserve", "copy:2")),
)


# One test a first execution where all are done, for none of them may take five minutes; else half of them.
FIRSTS = [(first,) for first in FIRST] if os.environ.get("RACE_COUNTS") == "full" else [tuple(FIRST)[::2]]


class Ended(NamedTuple):
    """A production whose first execution is over; `place` numbers them."""

    production: int
    first: str
    place: int


def ended(divisor: int, *firsts: str) -> Iterator[Ended]:
    """Productions whose first execution ended at its n-th point, for every first and n, or a seeded part of them."""
    places: list[tuple[str, int]] = []
    for first in firsts:
        whole, production = Ending(0), ask(prefix=letters(len(places)) + "W")
        passing_run(production, both(whole, FIRST[first](production)))
        places += [(first, at) for at in range(1, len(whole.points) + 1)]
    for place in sorted(random.Random(SEED).sample(range(len(places)), -(-len(places) // divisor))):
        first, at = places[place]
        production = ask(prefix=letters(place))
        assert passing_run(production, both(Ending(at), FIRST[first](production))) is None
        yield Ended(production, first, place)


def assert_as(world: World, production: int, status: str) -> None:
    """It ended so; what needed attention before the second execution still does."""
    [(prefix, left)] = world.query(
        "SELECT prefix, (SELECT GROUP_CONCAT(name) FROM production_steps WHERE production_id = id "
        "AND name IN ('reserve', 'notify') AND status = 'failed') FROM productions WHERE id = :p",
        p=production,
    )
    if status == "needs_attention":
        assert_needs_attention(world, production, [left])
    else:
        (assert_confirmed if status == "confirmed" else assert_cancelled)(world, production, prefix)


def outcome(world: World, production: int, otherwise: str) -> str:
    """What has been decided already, or else what the second execution comes to."""
    [(status, cancelled)] = world.query("SELECT status, cancel_requested FROM productions WHERE id = :p", p=production)
    if status in ("requested", "running"):
        return "cancelled" if cancelled else otherwise
    return "cancelled" if status == "cancelling" else str(status)


@pytest.mark.slow
@pytest.mark.parametrize("firsts", FIRSTS, ids=" ".join)
def test_another_execution_goes_on_where_the_first_one_ended(world: World, fewer: int, firsts: tuple[str, ...]) -> None:
    put_documents(world, NUMBERS)
    for production, _, _ in ended(fewer, *firsts):
        expected = outcome(world, production, "confirmed")
        passing_run(production, nothing)
        assert_as(world, production, expected)


@pytest.mark.slow
@pytest.mark.parametrize("firsts", FIRSTS, ids=" ".join)
def test_what_another_execution_fails_with_is_undone_wherever_the_first_one_ended(
    world: World, fewer: int, firsts: tuple[str, ...]
) -> None:
    put_documents(world, NUMBERS)
    for production, _, place in ended(fewer, *firsts):
        expected = outcome(world, production, "cancelled")
        passing_run(production, Faulty((SECOND[place % len(SECOND)],)))
        assert_as(world, production, expected)


@pytest.mark.slow
@pytest.mark.parametrize("firsts", FIRSTS, ids=" ".join)
def test_a_cancellation_between_two_executions_is_obeyed_or_refused(
    world: World, fewer: int, firsts: tuple[str, ...]
) -> None:
    put_documents(world, NUMBERS)
    for production, _, _ in ended(fewer, *firsts):
        expected = outcome(world, production, "cancelled")
        assert cancelled_or_refused(production) == (expected == "cancelled")
        passing_run(production, nothing)
        assert_as(world, production, expected)


@pytest.mark.slow
def test_what_a_second_execution_left_is_gone_on_with_by_a_third(world: World, fewer: int) -> None:
    put_documents(world, NUMBERS)
    for production, _, _ in ended(fewer, "undisturbed"):
        expected = outcome(world, production, "cancelled")
        passing_run(production, Faulty((Fault("notify" if expected == "confirmed" else "confirm"), Fault("undo copy"))))
        if status_of(world, production) == "needs_attention":
            retry(production)
            passing_run(production, nothing)
        assert_as(world, production, expected)


@pytest.mark.slow
def test_on_the_engine_it_is_the_same(world: World, fewer: int) -> None:
    put_documents(world, NUMBERS)
    for production, _, _ in ended(fewer, "undisturbed"):
        execute(production)
        assert_as(world, production, "confirmed")


def ended_at(point: Point) -> int:
    """A production whose first execution ended there."""
    production = ask()
    assert passing_run(production, lambda here: end() if here == point else None) is None
    return production


def test_what_was_confirmed_is_not_undone_though_its_execution_ended_before_it_said_so(world: World) -> None:
    put_documents(world, NUMBERS)
    production = ended_at(Point("confirm", after=True))
    passing_run(production, Faulty((Fault("notify"),)))
    assert_needs_attention(world, production, ["notify"])
    retry(production)
    passing_run(production, nothing)
    assert_confirmed(world, production)


@pytest.mark.parametrize(
    "at", [Point("reserve", after=True), Point("copy:2", after=True), Point("[copy:3]", after=True)]
)
def test_a_cancellation_undoes_what_an_earlier_execution_did(world: World, at: Point) -> None:
    put_documents(world, NUMBERS)
    production = ended_at(at)
    assert cancelled_or_refused(production)
    passing_run(production, nothing)
    assert_cancelled(world, production)
