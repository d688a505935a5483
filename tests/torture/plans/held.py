"""A load file of one seed that is held, and the steps of its users. Drawn from the seed and nothing else.

By its options it gives other documents, or cannot be read. What runs must be what a user has seen and confirmed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

HELD_CASE = "Held"
COLUMNS = ("Alpha", "Beta", "Gamma")
ROWS = 10


@dataclass(frozen=True)
class Reading:
    """How options read the file: by the columns of control number and title, or not at all."""

    number: str
    title: str
    delimiter: str = ";"

    @property
    def options(self) -> dict[str, Any]:
        """The options of the import."""
        return {"delimiter": self.delimiter, "columns": {self.number: "control_number", self.title: "title"}}

    @property
    def is_possible(self) -> bool:
        """Whether the file can be read so."""
        return self.delimiter == ";"


READINGS = (Reading("Alpha", "Beta"), Reading("Beta", "Gamma"), Reading("Alpha", "Beta", delimiter="|"))
POSSIBLE = (0, 1)


class Act(Enum):
    """A step of the users."""

    CHANGE = auto()
    # Two change the options of one version.
    CHANGE_BY_TWO = auto()
    # One changes the options, and one runs what both have seen.
    CHANGE_AND_RUN = auto()
    CHECK = auto()
    CHECK_AND_CANCEL = auto()
    CANCEL = auto()
    # With a version that is not the last one.
    RUN_OTHERS = auto()
    RUN = auto()
    RUN_BY_TWO = auto()
    RUN_AND_CANCEL = auto()


@dataclass(frozen=True)
class HeldStep:
    """A step; where it changes options, to which reading."""

    act: Act
    reading: int = 0


@dataclass(frozen=True)
class HeldPlan:
    """A file, the rows that lack a value, its first reading, and the steps, of which some come before the upload."""

    reading: int
    early: tuple[HeldStep, ...]
    steps: tuple[HeldStep, ...]
    gaps: tuple[int, int]

    @property
    def rows(self) -> dict[int, dict[str, str]]:
        """The cells by column, by line; in one row the first cell is blank, and in another one the second."""
        rows = {number + 2: {name: f"{name} {number}" for name in COLUMNS} for number in range(ROWS)}
        for line, name in zip(self.gaps, COLUMNS, strict=False):
            rows[line][name] = ""
        return rows

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        rows = (COLUMNS, *(cells.values() for cells in self.rows.values()))
        return "".join(";".join(row) + "\r\n" for row in rows).encode()


def draw_held(draw: random.Random) -> HeldPlan:
    """Draw a file that is checked with one reading at least, and then runs with another one, or is left."""
    early = tuple(HeldStep(Act.CHANGE, draw.randrange(len(READINGS))) for _ in range(draw.randint(0, 1)))
    first, second = draw.sample(range(2, 2 + ROWS), 2)
    return HeldPlan(draw.randrange(len(READINGS)), early, tuple(_draw_steps(draw)), (first, second))


def _draw_steps(draw: random.Random) -> Iterator[HeldStep]:
    one, other = draw.sample(POSSIBLE, 2)
    if draw.random() < 0.3:
        yield HeldStep(Act.CHANGE, 2)
        yield HeldStep(Act.CHECK)
    yield HeldStep(Act.CHANGE_BY_TWO, one)
    yield HeldStep(draw.choice((Act.CHECK, Act.CHECK_AND_CANCEL)))
    yield HeldStep(Act.CHANGE, other)
    if draw.random() < 0.4:
        yield HeldStep(Act.CANCEL)
    yield HeldStep(Act.RUN_OTHERS)
    if draw.random() < 0.5:
        yield HeldStep(Act.CHECK)
    if draw.random() < 0.2:
        return
    if draw.random() < 0.5:
        yield HeldStep(Act.CHANGE_AND_RUN, one)
    yield HeldStep(draw.choice((Act.RUN, Act.RUN_BY_TWO, Act.RUN_AND_CANCEL)))
