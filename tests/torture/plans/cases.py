"""What is done to cases while others work in them. Drawn from the seed and nothing else.

Each step ends with the case open and without a hold, so that others can end what they do.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from tests.torture.faults.injection_points import CHECKED_CASE
from tests.torture.plans.overlays import OVERLAID_CASE
from tests.torture.plans.volumes import VOLUME_CASES

STEPS = 9
CASES = ("Base", "Base", "Base", "Twins", OVERLAID_CASE, OVERLAID_CASE, *VOLUME_CASES, CHECKED_CASE, "Case 0", "Held")
# Of these a closed case fails the file that arrives, and others could then take what its import has claimed.
NEVER_CLOSED = ("Held", "Corrected")


class CaseAct(Enum):
    """What is done to a case."""

    CLOSE = auto()
    HOLD = auto()
    # One closes it and one holds it, from the same version.
    BY_TWO = auto()
    # A purge is requested for a day that never comes; a hold withdraws it.
    PURGE_LATER = auto()


@dataclass(frozen=True)
class CaseStep:
    """A step, and how long the case stays so; another case is taken while the named one is not there."""

    act: CaseAct
    case: str
    seconds: float


def draw_case_steps(draw: random.Random) -> Iterator[CaseStep]:
    """Draw each act once at least."""
    acts = [*CaseAct, *(draw.choice((CaseAct.CLOSE, CaseAct.CLOSE, CaseAct.HOLD)) for _ in range(STEPS - len(CaseAct)))]
    for act in draw.sample(acts, len(acts)):
        yield CaseStep(act, draw.choice(CASES), draw.uniform(0.2, 1.5))
