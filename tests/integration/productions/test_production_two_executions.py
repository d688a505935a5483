"""Two executions of one production at once: its numbers are given out once, and it is confirmed or cancelled, once."""

from __future__ import annotations

import random
from itertools import product

import pytest

from shell.aws import clients
from tests.support.production_ends import Held, Meanwhile, end, passing_run
from tests.support.production_faults import (
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
from tests.support.productions import ask, cancel, status_of
from tests.support.world import World

pytestmark = pytest.mark.usefixtures("small_parts")
SEED, PAIRS = 5, 100
FAULTS: list[Hook] = [nothing, Faulty((Fault("copy:2"),)), Faulty((Fault("confirm"),))]


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


def test_a_late_execution_does_not_end_what_the_other_one_has_not_told(world: World) -> None:
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
