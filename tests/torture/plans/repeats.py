"""A file that is imported again while its documents are corrected. Drawn from the seed and nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

REPEATED_CASE, ROWS, FIRST_LINE = "Repeated", 18, 2
LINES = range(FIRST_LINE, FIRST_LINE + ROWS)
HEADER = "Control Number,Title,Custodian,Tags"


@dataclass(frozen=True)
class RepeatStep:
    """Another import of the file: the documents of these lines are corrected before it, and others beside it."""

    before: tuple[int, ...]
    beside: tuple[int, ...]


def build_data() -> bytes:
    """Return the bytes of the file; each chunk has several names."""
    rows = (f"{build_number(line)},Title of {line},Keeper {line % 4},Seen {line % 3}" for line in LINES)
    return "".join(f"{row}\r\n" for row in (HEADER, *rows)).encode()


def build_number(line: int) -> str:
    """Return the control number of a line."""
    return f"R-{line:02}"


def draw_repeats(draw: random.Random) -> Iterator[RepeatStep]:
    """Draw two or three imports; no document is corrected twice."""
    lines = iter(draw.sample(LINES, len(LINES)))
    for _ in range(draw.randint(2, 3)):
        yield RepeatStep(
            tuple(next(lines) for _ in range(draw.randint(1, 2))), tuple(next(lines) for _ in range(draw.randint(0, 2)))
        )
