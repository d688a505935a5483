"""When the operator lets a tenant do less, and for how long. Drawn from the seed and nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

SUSPENDED = "suspended"
# Those in which nothing starts; of the others requests that write are refused too.
STARTS_NOTHING = frozenset({SUSPENDED, "leaving"})


@dataclass(frozen=True)
class SuspensionPlan:
    """The status that the tenant has for so many seconds, so many after the one before ended."""

    status: str
    after_s: float
    seconds: float


def draw_suspensions(draw: random.Random) -> Iterator[SuspensionPlan]:
    """Draw a suspension, and another status before it or not."""
    if draw.random() < 0.5:
        yield SuspensionPlan(draw.choice(("read_only", "leaving")), draw.uniform(1.0, 8.0), draw.uniform(0.5, 1.5))
    yield SuspensionPlan(SUSPENDED, draw.uniform(3.0, 12.0), draw.uniform(1.0, 3.0))
