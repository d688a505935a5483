"""A production's function is killed at every checkpoint and in every step; the engine's replay has the one outcome."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from tests.support.application.driver import World
from tests.support.productions.killed_executions import Function, Kill, Run, execute_in_processes
from tests.support.productions.runs import ask
from tests.support.productions.saga_faults import (
    BACKWARD,
    FORWARD,
    Fault,
    Point,
    assert_cancelled,
    assert_confirmed,
    letters,
)

SEED = 12
RUNS = {
    "confirmed": Run(0),
    "failing": Run(0, faults=(Fault("copy:2"),)),
    "cancelled": Run(0, cancelled=Point("copy:1", after=True)),
}
UNDOING = [Kill(Point(name, after)) for name, after in product(BACKWARD, (False, True))]
IN_STEPS = [
    *(("confirmed", Kill(Point(name, after))) for name, after in product(FORWARD, (False, True))),
    *(("failing", kill) for kill in UNDOING),
    *(("cancelled", kill) for kill in (*UNDOING, Kill(Point("copy:1", after=True)))),
]


pytestmark = [pytest.mark.usefixtures("small_parts"), pytest.mark.slow]


def killed(world: World, run: str, kill: Kill, number: int) -> Function:
    """The function of a run with a kill, whose outcome is the same as without."""
    production = ask(prefix=letters(number))
    execution = replace(RUNS[run], production=production, kill=kill)
    result, function = execute_in_processes(world.environment, execution)
    assert result == {"status": "confirmed" if run == "confirmed" else "cancelled", "unfinished": []}
    (assert_confirmed if run == "confirmed" else assert_cancelled)(world, production, letters(number))
    return function


def test_killed_in_the_confirmation_and_in_a_compensation_it_ends_as_if_it_had_not_been(world: World) -> None:
    kills = [("confirmed", Kill(Point("confirm", after=True))), ("failing", Kill(Point("undo copy")))]
    for number, (run, kill) in enumerate(kills):
        assert killed(world, run, kill, number).killed


@pytest.mark.parametrize("run", RUNS)
def test_killed_around_any_checkpoint_it_ends_as_if_it_had_not_been(world: World, fewer: int, run: str) -> None:
    updates = killed(world, run, Kill(), 0).updates
    every = list(product(range(1, updates + 1), (False, True)))
    for number, (at, after) in enumerate(random.Random(SEED).sample(every, -(-len(every) // fewer)), 1):
        assert killed(world, run, Kill(at, after), number).killed


def test_killed_in_any_step_it_ends_as_if_it_had_not_been(world: World, fewer: int) -> None:
    for number, (run, kill) in enumerate(random.Random(SEED).sample(IN_STEPS, -(-len(IN_STEPS) // fewer))):
        assert killed(world, run, kill, number).killed
