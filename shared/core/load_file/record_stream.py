"""Blocks of bytes to records with their places in the file, in memory that does not grow with the file.

Guaranteed: a record's tile is its bytes and the blank lines before it (but for very many of them, which belong to
none); a record over 16 MB is passed over while it is read and comes out as its range and digest, without cells.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from core.load_file import encoding as enc
from core.load_file.grammar import MAX_RECORD_BYTES, Grammar, Reading
from core.load_file.records import end_of_large_cell, find_start, opens_large_cell, read_records
from core.load_file.runs import LocatedRun, read_run

# A list of lines takes many times their bytes: of empty ones no more than so many bytes are listed at once.
MOST_BLANK_BYTES = 65_536


class Located(NamedTuple):
    """A record at bytes [byte_start, byte_end) and physical lines [first_line, last_line].

    `tile` is the bytes [tile_start, byte_end), which begin with the line `tile_line`: the record and the blank lines
    before it; None for a record over 16 MB, of which `sha256` is what remains. `cells` is None where the record cannot
    be read.
    """

    tile_start: int
    tile_line: int
    first_line: int
    last_line: int
    byte_start: int
    byte_end: int
    cells: list[str] | None
    tile: bytes | None
    sha256: bytes | None = None


@dataclass
class _Lost:
    """A record whose end is being looked for: what was passed over of it so far."""

    byte_start: int
    first_line: int
    last_line: int
    most: int
    inside_a_cell: bool = False
    size: int = 0
    pieces: list[bytes] = field(default_factory=list)
    digest: hashlib._Hash = field(default_factory=hashlib.sha256)

    def pass_over(self, raw: bytes) -> None:
        self.digest.update(raw)
        self.size += len(raw)
        self.pieces = [*self.pieces, raw] if self.size <= self.most else []

    def located(self) -> Located:
        kept = self.size <= self.most
        return Located(
            self.byte_start,
            self.first_line,
            self.first_line,
            self.last_line,
            self.byte_start,
            self.byte_start + self.size,
            None,
            b"".join(self.pieces) if kept else None,
            self.digest.digest(),
        )


class RecordStream:
    """The records of a file's body, fed from its first byte on in blocks of any size.

    With `picked`, the columns that are asked for, sound records come in runs, which is faster.
    """

    def __init__(
        self,
        grammar: Grammar,
        view: str,
        body_start: int,
        body_line: int,
        max_record_bytes: int = MAX_RECORD_BYTES,
        *,
        picked: tuple[int, int] | None = None,
    ) -> None:
        self._grammar, self._view, self._picked = grammar, view, picked
        self._most = max_record_bytes
        self._at, self._line = body_start, body_line
        self._pending = b""
        self._lost: _Lost | None = None
        self._mid_line = False
        self._worth_reading = 0
        self.evidence = enc.Utf8Evidence()
        cr, lf = re.escape("\r".encode(view)), re.escape("\n".encode(view))
        self._blank = re.compile(b"(?:(?:" + cr + b")?" + lf + b")*+")

    def feed(self, block: bytes, *, at_end: bool = False) -> Iterator[Located | LocatedRun]:
        """The records that the next bytes complete; with `at_end`, the bytes are the last."""
        self._pending += block
        if len(self._pending) < self._worth_reading and not at_end:
            return
        while True:
            if self._lost:
                yield from self._search(self._lost, at_end)
            if self._lost is None:
                self._drop_blank_lines(MOST_BLANK_BYTES)
                yield from self._read(at_end)
            if self._lost or len(self._pending) <= self._most:
                # To read a record that goes on again with every block would be quadratic.
                self._worth_reading = min(2 * len(self._pending), self._most + 1)
                return
            if not self._drop_blank_lines():
                self._lose()

    def _read(self, at_end: bool) -> Iterator[Located | LocatedRun]:
        end = len(self._pending) if at_end else enc.end_of_last_line(self._pending, self._view)
        if not end:
            return
        raw = self._pending[:end]
        lines = enc.lines(raw, self._view)
        if self._picked:
            lines = yield from self._read_run(lines, raw, self._picked)
        if lines.texts:
            yield from self._read_one_by_one(lines, self._pending[: sum(lines.sizes)], at_end)

    def _read_run(
        self, lines: enc.Lines, raw: bytes, picked: tuple[int, int]
    ) -> Generator[LocatedRun, None, enc.Lines]:
        """The sound records that the lines begin with; returns the lines behind them."""
        run = read_run(lines, self._grammar, picked)
        if len(run.bounds) == 1:
            return lines
        offsets = [0, *accumulate(lines.sizes)]
        yield LocatedRun(run, offsets, self._at, self._line, raw)
        self._advance(run.bounds[-1], offsets, raw)
        return lines.behind(run.bounds[-1])

    def _read_one_by_one(self, lines: enc.Lines, raw: bytes, at_end: bool) -> Iterator[Located]:
        offsets = [0, *accumulate(lines.sizes)]
        reading, tiled = Reading(), 0
        for record in read_records(lines, self._grammar, at_end=at_end, reading=reading):
            behind = record.first + record.lines
            lo, hi = offsets[tiled], offsets[behind]
            yield Located(
                self._at + lo,
                self._line + tiled,
                self._line + record.first,
                self._line + behind - 1,
                self._at + offsets[record.first],
                self._at + hi,
                record.cells,
                raw[lo:hi],
            )
            tiled = behind
        self._advance(len(lines.texts) if at_end else tiled, offsets, raw)

    def _search(self, lost: _Lost, at_end: bool) -> Iterator[Located]:
        """Pass over what belongs to the lost record; yields it when the next record (or the end) is found."""
        end = len(self._pending) if at_end else enc.end_of_last_line(self._pending, self._view)
        if not end and self._another_is_lost(lost, at_end):
            yield lost.located()
            self._lost = None
            return
        if not end:
            # Part of a line says nothing of what an open cell goes on with, nor its beginning whether it is a record's:
            # wait for the rest of it.
            if (self._mid_line and not lost.inside_a_cell) or at_end or len(self._pending) > self._most:
                yield from self._pass_over_part_of_a_line(lost, at_end)
            return
        lines = enc.lines(self._pending[:end], self._view)
        start, found = self._end_of(lost, lines, at_end)
        offsets = [0, *accumulate(lines.sizes)]
        lost.pass_over(self._pending[: offsets[start]])
        lost.last_line = max(lost.last_line, self._line + start - 1)
        self._mid_line = False
        self._advance(start, offsets, self._pending[:end])
        if found or at_end:
            yield lost.located()
            self._lost = None

    def _another_is_lost(self, lost: _Lost, at_end: bool) -> bool:
        """Whether what is pending, too long and without a line end, begins the record behind the lost one."""
        if at_end or self._mid_line or lost.inside_a_cell or len(self._pending) <= self._most:
            return False
        half = len(self._pending) % 2 if enc.is_wide(self._view) else 0
        lines = enc.lines(self._pending[: len(self._pending) - half], self._view)
        return find_start(lines, self._grammar, at_end=True, first=0)[0] == 0

    def _lose(self) -> None:
        """The record at hand goes on for longer than we hold: look for its end, or for the next record, instead."""
        self._lost, self._mid_line = _Lost(self._at, self._line, self._line, self._most), True
        end = enc.end_of_last_line(self._pending, self._view)
        lines = enc.lines(self._pending[:end], self._view)
        if end and opens_large_cell(lines, self._grammar):
            self._lost.inside_a_cell, self._mid_line = True, False
            self._lost.pass_over(self._pending[:end])
            self._lost.last_line = self._line + len(lines.texts) - 1
            self._advance(len(lines.texts), [0, *accumulate(lines.sizes)], self._pending[:end])

    def _end_of(self, lost: _Lost, lines: enc.Lines, at_end: bool) -> tuple[int, bool]:
        """The line up to which the lost record reaches, and whether it ends there."""
        if lost.inside_a_cell:
            behind, lost.inside_a_cell = end_of_large_cell(lines, self._grammar)
            if behind is not None:
                return behind, True
            if lost.inside_a_cell:
                return len(lines.texts), False
        all_there_is = at_end or len(self._pending) > self._most
        start, certain = find_start(lines, self._grammar, at_end=all_there_is, first=int(self._mid_line))
        return start, certain and start < len(lines.texts)

    def _pass_over_part_of_a_line(self, lost: _Lost, at_end: bool) -> Iterator[Located]:
        # Half of a code unit waits for its other half: line ends are looked for at every second byte from here.
        half = len(self._pending) % 2 if enc.is_wide(self._view) and not at_end else 0
        part, self._pending = self._pending[: len(self._pending) - half], self._pending[len(self._pending) - half :]
        if part:
            lost.last_line = self._line
        lost.pass_over(part)
        self._at += len(part)
        self._mid_line, lost.inside_a_cell = bool(part) or self._mid_line, False
        if at_end:
            yield lost.located()
            self._lost = None

    def _drop_blank_lines(self, least: int = 0) -> bool:
        """Pass over the blank lines that the pending bytes begin with; False if they are no more than so many bytes."""
        blank = self._blank.match(self._pending)
        size = blank.end() if blank else 0
        if size <= least:
            return False
        self._line += enc.decode(self._pending[:size], self._view).count("\n")
        self._at, self._pending = self._at + size, self._pending[size:]
        return True

    def _advance(self, lines: int, offsets: list[int], raw: bytes) -> None:
        if self._view == enc.BYTEWISE:
            self.evidence.add(raw[: offsets[lines]])
        self._pending = self._pending[offsets[lines] :]
        self._at += offsets[lines]
        self._line += lines
