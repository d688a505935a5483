"""An execution goes on with what another one left in the database, wherever that ended; it knows nothing else of it."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.support.production_ends import Meanwhile, end, passing_run
from tests.support.production_faults import (
    Fault,
    Faulty,
    Hook,
    Point,
    around,
    assert_cancelled,
    assert_confirmed,
    assert_needs_attention,
    both,
    cancelled_or_refused,
    handler_of,
    letters,
    nothing,
)
from tests.support.productions import ask, cancel, execute, retry, status_of
from tests.support.world import World

pytestmark = pytest.mark.usefixtures("small_parts")
SEED = 27


def faults(*given: Fault) -> Callable[[int], Hook]:
    """Faults in any production."""
    return lambda _production: Faulty(given)


def cancelled_in_copying(production: int) -> Hook:
    """The production is cancelled when its first part is copied."""
    return lambda point: cancel(production) if point == Point("copy:1", after=True) else None


# What happens in the first execution before it ends.
FIRST: dict[str, Callable[[int], Hook]] = {
    "undisturbed": faults(),
    "failing": faults(Fault("copy:2")),
    "failing at the end": faults(Fault("confirm")),
    "cancelled": cancelled_in_copying,
    "not undone": faults(Fault("copy:2"), Fault("undo reserve")),
    "not told": faults(Fault("notify")),
}
# What happens in the second one, unless it was decided before: nothing, a cancellation before it, or a fault.
CANCELLATION = "cancellation"
SECOND: tuple[Fault | str | None, ...] = (
    *(None, CANCELLATION, None, CANCELLATION),
    *(Fault(at) for at in ("begin", "reserve", "copy:1", "copy:3", "confirm")),
    *(Fault(at, after=True) for at in ("reserve", "copy:2")),
)


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


def go_on(world: World, production: int, second: Fault | str | None) -> None:
    """The second execution, on the engine, and what it must come to."""
    expected = outcome(world, production, "cancelled" if second else "confirmed")
    if second == CANCELLATION:
        assert cancelled_or_refused(production) == (expected == "cancelled")
    execute(production, handler_of(around(Faulty((second,) if isinstance(second, Fault) else ()))))
    assert_as(world, production, expected)


@pytest.mark.slow
@pytest.mark.parametrize("first", FIRST)
def test_another_execution_goes_on_wherever_the_first_one_ended(world: World, race_counts: int, first: str) -> None:
    whole, production = Meanwhile(0, lambda: None), ask(prefix="WHOLE")
    passing_run(production, both(whole, FIRST[first](production)))
    places = range(1, len(whole.points) + 1)
    for place in random.Random(SEED).sample(places, -(-len(places) // race_counts)):
        production = ask(prefix=letters(place))
        assert passing_run(production, both(Meanwhile(place, end), FIRST[first](production))) is None
        go_on(world, production, SECOND[place % len(SECOND)])


def ended_at(point: Point, **asked: str) -> int:
    """A production whose first execution ended there."""
    production = ask(**asked)
    assert passing_run(production, lambda here: end() if here == point else None) is None
    return production


ENDS: list[tuple[Point, Fault | str | None]] = [
    (Point("reserve", after=True), CANCELLATION),
    (Point("copy:2", after=True), None),
    (Point("[copy:3]", after=True), CANCELLATION),
    (Point("[copy:3]"), Fault("confirm")),
]


def test_what_an_earlier_execution_did_is_gone_on_with_or_undone(world: World) -> None:
    for number, (at, second) in enumerate(ENDS):
        go_on(world, ended_at(at, prefix=letters(number)), second)


def test_what_was_confirmed_is_not_undone_though_its_execution_ended_before_it_said_so(world: World) -> None:
    production = ended_at(Point("confirm", after=True))
    passing_run(production, Faulty((Fault("notify"),)))
    assert_needs_attention(world, production, ["notify"])
    retry(production)
    passing_run(production, nothing)
    assert_confirmed(world, production)


def test_what_a_second_execution_left_is_gone_on_with_by_a_third(world: World) -> None:
    production = ended_at(Point("copy:2", after=True))
    passing_run(production, Faulty((Fault("confirm"), Fault("undo copy"))))
    assert status_of(world, production) == "needs_attention"
    retry(production)
    passing_run(production, nothing)
    assert_cancelled(world, production)
