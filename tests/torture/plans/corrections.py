"""The rejected rows of one seed, and what is done about them. Drawn from the seed and nothing else.

One case has a load file and, in some seeds, another one a volume; no editor works on these documents. Most lines that a
step names are open by then; of the others the request is refused.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

COLUMNS = ("Control Number", "Title", "Native Path")
FIRST_LINE, NUMBER, TITLE = 2, "A-0", "Title of A-0"


@dataclass(frozen=True)
class CorrectedRow:
    """A row in place of a rejected one: without a number it is rejected again, with that of another document too.

    One that equals a document is accepted.
    """

    line: int
    number: str
    title: str

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells of COLUMNS."""
        return self.number, self.title, build_path(self.number)

    @property
    def error(self) -> str | None:
        """Why it is rejected again."""
        if not self.number:
            return "MISSING_ID"
        return "EXISTS_WITH_OTHER_VALUES" if self.number == NUMBER and not self.is_there else None

    @property
    def is_there(self) -> bool:
        """Whether the case has the document, as it is here."""
        return (self.number, self.title) == (NUMBER, TITLE)


@dataclass(frozen=True)
class CorrectionRequest:
    """Rows and lines to discard, in the order of the lines."""

    rows: tuple[CorrectedRow, ...]
    discarded: tuple[int, ...] = ()

    @property
    def lines(self) -> set[int]:
        """All lines."""
        return {*(row.line for row in self.rows), *self.discarded}


@dataclass(frozen=True)
class CorrectionStep:
    """A request, and perhaps one of a `rival` at the same time; then what becomes of the import of its rows.

    It `is_cancelled`: then the `other` request may take some of its lines, and it is retried. In the end `is_repeated`
    says that the lines are requested once more, and `is_undone` that the import is undone.
    """

    request: CorrectionRequest
    rival: CorrectionRequest | None = None
    is_cancelled: bool = False
    other: CorrectionRequest | None = None
    is_repeated: bool = False
    is_undone: bool = False


@dataclass(frozen=True)
class CorrectionCasePlan:
    """A file whose row at FIRST_LINE is right and whose others have no number, or the same one, and what follows.

    In the end the file `is_undone` or not, which leaves the corrections.
    """

    case: str
    is_volume: bool
    rejected: tuple[str, ...]
    steps: tuple[CorrectionStep, ...]
    is_undone: bool

    @property
    def rows(self) -> dict[int, tuple[str, ...]]:
        """The cells of each row, by line."""
        first = (NUMBER, TITLE, build_path(NUMBER))
        others = ((number, "Title", "") for number in self.rejected)
        return dict(enumerate((first, *others), start=FIRST_LINE))

    @property
    def lines(self) -> range:
        """The lines of the rejected rows."""
        return range(FIRST_LINE + 1, FIRST_LINE + 1 + len(self.rejected))

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        rows = (COLUMNS, *self.rows.values())
        return "".join("\x14".join(f"þ{cell}þ" for cell in row) + "\r\n" for row in rows).encode()

    @property
    def files(self) -> set[str]:
        """The files that any row names, now or corrected."""
        requests = (each for step in self.steps for each in (step.request, step.rival, step.other) if each)
        rows = (row for request in requests for row in request.rows)
        return {build_path(number) for number in (NUMBER, *(row.number for row in rows)) if number}


def build_path(number: str) -> str:
    """Return the path of a document's native."""
    return f"NATIVES\\{number}.txt" if number else ""


def draw_corrections(draw: random.Random) -> Iterator[CorrectionCasePlan]:
    """Draw what happens to a load file, and in some seeds to a volume."""
    yield _draw_case(draw, "Corrected", is_volume=False)
    if draw.random() < 0.4:
        yield _draw_case(draw, "Corrected volume", is_volume=True)


def _draw_case(draw: random.Random, case: str, *, is_volume: bool) -> CorrectionCasePlan:
    rejected = tuple(draw.choice(("", "", NUMBER)) for _ in range(4 if is_volume else 9))
    plan = CorrectionCasePlan(case, is_volume, rejected, (), draw.random() < 0.3)
    steps = _draw_short(draw, list(plan.lines)) if is_volume else _draw_long(draw, list(plan.lines))
    return replace(plan, steps=tuple(steps))


def _draw_long(draw: random.Random, lines: Sequence[int]) -> Iterator[CorrectionStep]:
    """Draw rivals, a correction that is cancelled, and one that is undone, and more of each lines."""
    one, other, third = lines[:4], lines[4:7], lines[7:]
    yield CorrectionStep(
        _draw_request(draw, "C", draw.sample(one, 3)),
        rival=_draw_request(draw, "R", draw.sample(one, 2), discards=draw.random() < 0.5),
        is_repeated=True,
    )
    taken = _draw_request(draw, "O", other[:1]) if draw.random() < 0.7 else None
    yield CorrectionStep(_draw_request(draw, "D", other[:2], again=0), is_cancelled=True, other=taken)
    yield CorrectionStep(_draw_request(draw, "U", third, exists=True), is_undone=draw.random() < 0.7)
    if draw.random() < 0.5:
        yield CorrectionStep(_draw_request(draw, "E", draw.sample(lines, 2), again=0.1, discards=draw.random() < 0.3))


def _draw_short(draw: random.Random, lines: Sequence[int]) -> Iterator[CorrectionStep]:
    """Draw a correction, which is undone or not, and another one."""
    yield CorrectionStep(_draw_request(draw, "C", lines[:2]), is_undone=draw.random() < 0.4)
    yield CorrectionStep(_draw_request(draw, "D", draw.sample(lines, 2), discards=draw.random() < 0.3))


def _draw_request(
    draw: random.Random,
    name: str,
    lines: Sequence[int],
    *,
    again: float = 0.3,
    exists: bool = False,
    discards: bool = False,
) -> CorrectionRequest:
    """Draw rows with numbers of this request alone; some are rejected again, and one may have that of a document."""
    rows = [
        CorrectedRow(line, "" if draw.random() < again else f"{name}-{line}", f"Title by {name}")
        for line in sorted(lines)
    ]
    if exists:
        rows[0] = replace(rows[0], number=NUMBER, title=draw.choice((TITLE, "Another title")))
    discarded = (rows.pop().line,) if discards else ()
    return CorrectionRequest(tuple(rows), discarded)
