"""Cases that are filled and purged beside everything else. Drawn from the seed and nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

# Its custody periods are of a device that no other client has.
PURGED, DEVICE = "Purged", 9
HEADER = "Control Number,Title,Custodian,Tags,Native Path"


@dataclass(frozen=True)
class PurgePlan:
    """A case: the rows of its load file, of which every fourth lacks a number, and what else is done before its purge.

    `is_undone`: a second file is imported and undone. `has_volume`: it gets a volume that is never imported.
    `is_contested`: one requests the purge and one a hold, at once. `is_held`: a hold is requested when the purge may
    begin. `is_late`: a file arrives when it has begun.
    """

    case: str
    rows: int
    is_undone: bool
    has_volume: bool
    is_contested: bool
    is_held: bool
    is_late: bool

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        # Every fourth row has no number.
        numbers = {row: "" if row % 4 == 3 else f"P-{row}" for row in range(self.rows)}
        return _build(f"{number},Title,Keeper {row % 3},Seen,{row}.txt" for row, number in numbers.items())

    @property
    def undone(self) -> bytes:
        """The bytes of the file that is undone."""
        return _build(f"U-{row},Title,Gone,Gone," for row in range(3))


def _build(rows: Iterator[str]) -> bytes:
    return "".join(f"{row}\r\n" for row in (HEADER, *rows)).encode()


def draw_purges(draw: random.Random) -> Iterator[PurgePlan]:
    """Draw one case, and in some seeds a second one."""
    for number in range(1 + (draw.random() < 0.3)):
        yield PurgePlan(
            f"{PURGED} {number}",
            draw.randint(7, 20),
            is_undone=draw.random() < 0.5,
            has_volume=draw.random() < 0.5,
            is_contested=draw.random() < 0.6,
            is_held=draw.random() < 0.6,
            is_late=draw.random() < 0.6,
        )
