"""An execution goes on with what another one left in the database, wherever that ended; it knows nothing else of it.

Two at once give a production's numbers out once, and confirm or cancel it, once.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest

from shell.aws import clients
from tests.support.application.driver import World
from tests.support.productions.final_executions import Held, Meanwhile, end, passing_run
from tests.support.productions.runs import ask, cancel, execute, retry, status_of
from tests.support.productions.saga_faults import (
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
    is_closed,
    letters,
    nothing,
)

pytestmark = pytest.mark.usefixtures("small_parts")
SEED, PAIRS = 27, 100
FAULTS: list[Hook] = [nothing, Faulty((Fault("copy:2"),)), Faulty((Fault("confirm"),))]


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
    "not announced": faults(Fault("notify")),
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


def ended_at(point: Point, **fields: str) -> int:
    """A production whose first execution ended there."""
    production = ask(**fields)
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


def assert_decided(world: World, production: int, prefix: str) -> str:
    """It is one or the other, wholly; what an execution left for another one is done by that."""
    if not is_closed(world, production):
        passing_run(production, nothing)
    status = status_of(world, production)
    (assert_confirmed if status == "confirmed" else assert_cancelled)(world, production, prefix)
    return status


@pytest.mark.slow
def test_two_executions_that_meet_anywhere_decide_once(world: World, race_counts: int) -> None:
    """One is held while the other runs up to a point; at every fourth of these the production is cancelled as well."""
    whole = Meanwhile(0, lambda: None)
    passing_run(ask(prefix="ALONE"), whole)
    every = list(product(range(1, len(whole.points) + 1), repeat=2))
    for number, (held_at, meet_at) in enumerate(random.Random(SEED).sample(every, PAIRS // race_counts)):
        production, obeyed = ask(prefix=letters(number)), list[bool]()
        held = Held(production, held_at, FAULTS[number % 3])

        cancelling = Meanwhile(meet_at, lambda p=production, o=obeyed: o.append(cancelled_or_refused(p)))  # type: ignore[misc]
        going_on = Meanwhile(meet_at, held.go_on)
        hook = both(both(cancelling if number % 4 == 0 else nothing, going_on), FAULTS[number // 3 % 3])
        passing_run(production, hook)
        held.go_on()
        status = assert_decided(world, production, letters(number))
        assert obeyed in ([], [status == "cancelled"])


def test_a_copy_that_comes_after_the_cancellation_is_deleted(world: World) -> None:
    production = ask()

    def late() -> None:
        passing_run(production, Faulty((Fault("confirm"),)))
        assert_cancelled(world, production)
        clients.s3().put_object(Bucket=world.bucket, Key=f"productions/{production}/VOL001/late", Body=b"late")

    passing_run(production, lambda point: late() if point == Point("copy:3", after=True) else None)
    assert_cancelled(world, production)


def test_a_late_execution_does_not_end_what_the_other_one_has_not_announced(world: World) -> None:
    production = ask()
    held = Held(production, 12, nothing)
    passing_run(production, lambda point: end() if point == Point("notify") else None)
    held.go_on()
    assert not is_closed(world, production)
    passing_run(production, nothing)
    assert_confirmed(world, production)


def test_an_execution_that_comes_late_changes_nothing_of_what_is_confirmed(world: World) -> None:
    production = ask()
    held = Held(production, 12, Faulty((Fault("confirm"),)))
    passing_run(production, nothing)
    held.go_on()
    assert_confirmed(world, production)
    with pytest.raises(Exception, match="is confirmed"):
        cancel(production)
