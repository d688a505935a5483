"""The load files that change the documents of one case, one after the other. Drawn from the seed and nothing else.

The first one creates the documents. Editors work on them while the others overlay them; no editor sets a Bates number,
so that which row belongs to which document follows from the files alone.
"""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

OVERLAID_CASE = "Overlaid"
NUMBERS = tuple(f"D-{number:02}" for number in range(12))
NEW_NUMBERS = ("N-01", "N-02", "N-03", "N-04")
CONTROL_NUMBER, BATES_BEGIN = "Control Number", "Bates Begin"
TOO_LONG_KEY, TOO_LONG_TEXT = "K" * 256, "t" * 1_030
# By column: what a cell may hold. No date is one that another order of day and month could be.
DATES = ("", "2001-01-31", "2001-01-31 10:00", "2002-02-28T11:00:00Z", "2001-02-30", "00/00/0000", " ")
CELLS: dict[str, Sequence[str]] = {
    BATES_BEGIN: ("", "  ", *(f"B-{number}" for number in range(10)), " B-1 ", "B-2 ", TOO_LONG_KEY),
    "Title": ("", "  ", "one", "One", "two", "two ", TOO_LONG_TEXT),
    "File Name": ("", "a.msg", "b.msg"),
    "Document Date": DATES,
    "Date Sent": DATES,
    "Custodian": ("", "Smith", "Smith;Jones", "smith", "Brown; Jones", " "),
    "Tags": ("", "hot", "hot;cold", "Hot", "Issues\\Fees", " "),
    "Author": ("", "Ann", "ann", "<nil>", " "),
    "Pages": ("", "1", "2"),
}


@dataclass(frozen=True)
class OverlayPlan:
    """One file: its options, columns and rows, whose lines count from 2.

    A cancelled import is retried, or left as it is, and undone.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    mode: str = "append"
    blanks: str = "keep"
    multi_values: str = "merge"
    overlay_key: str = "control_number"
    is_cancelled: bool = False
    is_left: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The options of the import."""
        of_overlays = {"blanks": self.blanks, "multi_values": self.multi_values, "overlay_key": self.overlay_key}
        return {"delimiter": "comma", "qualifier": "quote", "mode": self.mode} | (
            of_overlays if self.mode != "append" else {}
        )

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        text = io.StringIO()
        csv.writer(text, quoting=csv.QUOTE_ALL).writerows([self.columns, *self.rows])
        return text.getvalue().encode()

    def lines(self) -> dict[int, dict[str, str]]:
        """The cells of every row by column, by line."""
        return {line: dict(zip(self.columns, row, strict=True)) for line, row in enumerate(self.rows, start=2)}


@dataclass(frozen=True)
class UndoPlan:
    """The undo of an earlier file, by its place among the files.

    It may be tried by a dry run, be requested by two, or another file may be uploaded beside it.
    """

    which: int
    is_tried: bool = False
    is_by_two: bool = False
    beside: OverlayPlan | None = None


Step = OverlayPlan | UndoPlan


def draw_steps(draw: random.Random) -> Iterator[Step]:
    """Draw the file that creates the documents, those that overlay them, and undos of some of them, in their order.

    Some files are the first one again. At least one file is undone.
    """
    columns = [name for name in CELLS if name != BATES_BEGIN]
    # Two documents have the Bates number of another one.
    first = OverlayPlan(
        columns=(CONTROL_NUMBER, BATES_BEGIN, *columns),
        rows=tuple((each, f"B-{turn % 10}", *_row(draw, columns)) for turn, each in enumerate(NUMBERS)),
    )
    files = [first, *(_draw_overlay(draw, first) for _ in range(draw.randint(2, 3)))]
    left = list(range(1, len(files)))
    for which, file in enumerate(files):
        yield file
        if file.is_left or (which > 1 and draw.random() < 0.4) or which == len(files) - 1:
            undone = which if file.is_left else draw.choice([each for each in left if each <= which])
            left.remove(undone)
            yield _draw_undo(draw, undone)
            if draw.random() < 0.2:
                yield UndoPlan(undone)
    yield from _draw_end(draw, first)


def _draw_end(draw: random.Random, first: OverlayPlan) -> Iterator[Step]:
    """Draw whether the file that created the documents is undone, and whether it is imported again after that."""
    if draw.random() < 0.5:
        yield _draw_undo(draw, 0)
        if draw.random() < 0.5:
            yield replace(first, mode="append_overlay")


def _draw_undo(draw: random.Random, which: int) -> UndoPlan:
    is_tried, is_by_two = draw.random() < 0.4, draw.random() < 0.3
    rows = tuple((f"X-{which}-{number}", "new") for number in range(draw.randint(1, 20)))
    beside = OverlayPlan((CONTROL_NUMBER, "Title"), rows) if not is_by_two and draw.random() < 0.6 else None
    return UndoPlan(which, is_tried=is_tried, is_by_two=is_by_two, beside=beside)


def _draw_overlay(draw: random.Random, first: OverlayPlan) -> OverlayPlan:
    is_cancelled = draw.random() < 0.25
    file = replace(first, mode="overlay") if draw.random() < 0.2 else _draw_file(draw)
    return replace(file, is_cancelled=is_cancelled, is_left=is_cancelled and draw.random() < 0.5)


def _draw_file(draw: random.Random) -> OverlayPlan:
    mode = draw.choice(("overlay", "overlay", "append_overlay"))
    by_bates = mode == "overlay" and draw.random() < 0.3
    key = BATES_BEGIN if by_bates else CONTROL_NUMBER
    columns = [name for name in CELLS if name != key and draw.random() < 0.6] or ["Title"]
    draw.shuffle(columns)
    keys = CELLS[BATES_BEGIN] if by_bates else (*NUMBERS, *NEW_NUMBERS[:2], draw.choice(NEW_NUMBERS), "", " D-01 ")
    chosen = draw.sample(keys, draw.randint(len(keys) // 2, len(keys)))
    chosen += draw.choices(chosen, k=draw.randint(0, 1))
    return OverlayPlan(
        columns=(key, *columns),
        rows=tuple((each, *_row(draw, columns)) for each in chosen),
        mode=mode,
        blanks=draw.choice(("keep", "clear")),
        multi_values=draw.choice(("merge", "replace")),
        overlay_key="bates_begin" if by_bates else "control_number",
    )


def _row(draw: random.Random, columns: Sequence[str]) -> list[str]:
    return [draw.choice(CELLS[name]) for name in columns]
