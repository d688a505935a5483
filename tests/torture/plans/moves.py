"""When the commands that move a tenant are killed. Drawn from the seed and nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

# In this order, and where their stacks are named: the source, the target or both.
STEPS = {"export": ("source",), "load": ("target",), "verify": ("source", "target"), "switch": ("source", "target")}


@dataclass(frozen=True)
class MoveStep:
    """A command, and after how many seconds each of its first runs is killed."""

    command: str
    kills: tuple[float, ...]


def draw_move(draw: random.Random) -> Iterator[MoveStep]:
    """Draw the steps of a move, of which the load is killed at least once."""
    for command in STEPS:
        count = draw.randint(command == "load", 2)
        yield MoveStep(command, tuple(draw.uniform(0.5, 2.5) for _ in range(count)))
