"""Lines to records, in the one way that the splitter and the chunks share.

A record is read strictly: the qualifier counts only at the start of a cell, doubled inside it is one, and behind the
closing one stand only spaces, the delimiter or the line's end. Exactly empty lines are no records.

Guaranteed: the outcome depends on the record's own lines and never on the block or chunk they came in; an unclosed
qualifier costs the record it stands in and not its neighbour; reading is linear in the text, whatever it is.

A record whose quoting is damaged reaches to the next line that starts like a record: a line from which a whole record
with the right number of cells can be read; or that has as many delimiters as a record; or, where records begin with a
qualifier, whose first cell is closed and followed by the delimiter.
"""

from __future__ import annotations

import csv
import re
from bisect import bisect_left
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from core.load_file.encoding import Lines

MAX_CELL_CHARACTERS = 2**31 - 1
LINES_LOOKED_AT = 1_000
# Noncharacters first: no text ought to have them; what follows serves a text that has them all.
_MARKS = range(0xFDD0, 0x110000)


@dataclass(frozen=True)
class Grammar:
    """How records are written: delimiter, qualifier (None: there is none), number of cells (0: not known yet).

    `spare_cell`: lines may end with one delimiter more than the cells need. `quoted_start`: records begin with the
    qualifier.
    """

    delimiter: str
    qualifier: str | None
    cells: int
    spare_cell: bool = False
    quoted_start: bool = False

    def fits(self, cells: list[str]) -> bool:
        """Whether a record has the right number of cells.

        Where lines end with a delimiter more, one with the right number of which the last is blank may as well lack
        a cell in the middle: it does not fit.
        """
        if self.spare_cell and cells and not cells[-1]:
            return len(cells) == self.cells + 1
        return len(cells) == self.cells


class Record(NamedTuple):
    """A record: its first line (index into the lines read), its number of lines, its cells.

    `cells` is None where the quoting is damaged.
    """

    first: int
    lines: int
    cells: list[str] | None


@dataclass
class Reading:
    """Where reading stopped: the index of the first line that no record was made of."""

    consumed: int = 0


def read_records(lines: Lines, grammar: Grammar, *, at_end: bool, reading: Reading) -> Iterator[Record]:
    """The records of the lines, in order; blank lines are skipped.

    With `at_end` the lines are all there is. Without it, a last record that may go on is left: `reading.consumed`,
    valid when the iterator is exhausted, says from which line to read again once there are more.
    """
    if not lines.bare_cr:
        yield from _records(lines.texts, grammar, at_end, reading)
        return
    # The csv module takes a CR that no LF follows for a record's end, or for an error; to us it is data.
    mark = _unused_character(lines.texts)
    for record in _records([_shielded(line, mark) for line in lines.texts], grammar, at_end, reading):
        cells = record.cells
        yield record if cells is None else record._replace(cells=[cell.replace(mark, "\r") for cell in cells])


def _unused_character(lines: list[str]) -> str:
    used = set().union(*lines)
    return next(mark for mark in map(chr, _MARKS) if mark not in used)


def _shielded(line: str, mark: str) -> str:
    body, end = (line[:-2], "\r\n") if line.endswith("\r\n") else (line, "")
    return body.replace("\r", mark) + end


def _records(lines: list[str], grammar: Grammar, at_end: bool, reading: Reading) -> Iterator[Record]:
    damaged: _DamagedText | None = None
    while reading.consumed < len(lines):
        trouble_ends = yield from _strict_run(lines, grammar, reading)
        if trouble_ends is None:
            return
        damaged = damaged or _DamagedText(lines, grammar, at_end)
        complete = yield from damaged.records(trouble_ends, reading)
        if not complete:
            return


def _strict_run(lines: list[str], grammar: Grammar, reading: Reading) -> Generator[Record, None, int | None]:
    """Records as the csv module reads them, up to the first that is in trouble.

    Returns the line behind what the module read of that one, or None at the end of the lines.
    """
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    base = first = reading.consumed
    reader = csv.reader(
        # islice would count its way to the base again for every damaged record.
        (lines[index] for index in range(base, len(lines))) if base else iter(lines),
        delimiter=grammar.delimiter,
        quotechar=grammar.qualifier,
        quoting=csv.QUOTE_NONE if grammar.qualifier is None else csv.QUOTE_MINIMAL,
        strict=True,
    )
    try:
        for cells in reader:
            behind = base + reader.line_num
            if behind - first > 1 and grammar.cells and not grammar.fits(cells):
                return behind
            if cells:
                yield Record(first, behind - first, cells)
            reading.consumed = first = behind
    except csv.Error:
        return base + reader.line_num
    return None


def find_start(lines: Lines, grammar: Grammar, *, at_end: bool, first: int) -> tuple[int, bool]:
    """The first line from `first` on that starts like a record, for whoever lost the beginning of the one before.

    Returns (line, certain): the line is the number of lines if there is none; it is not certain if more lines could
    show that a record starts there.
    """
    if grammar.qualifier is None:
        return min(first, len(lines.texts)), True
    return _DamagedText(lines.texts, grammar, at_end).start_from(first)


def opens_large_cell(lines: Lines, grammar: Grammar) -> bool:
    """Whether the lines are the beginning of one record, soundly quoted, whose last cell they do not close.

    Not so if half of the lines read as records by themselves: then a qualifier was left open in front of them.
    """
    if grammar.qualifier is None:
        return False
    return _DamagedText(lines.texts, grammar, at_end=False).is_one_open_cell()


def end_of_large_cell(lines: Lines, grammar: Grammar) -> tuple[int | None, bool]:
    """For lines that begin inside a quoted cell: the line behind its record (None: not among them), and whether the
    lines end inside a quoted cell; (None, False) if the quoting is damaged.
    """
    text = _DamagedText(lines.texts, grammar, at_end=False)
    closed = text.patterns.closed.match(text.text)
    if closed:
        return bisect_left(text.starts, closed.end()), False
    return None, text.patterns.still_open.match(text.text) is not None


class _DamagedText:
    """Lines in which the csv module met an error: read by patterns that stop at what cannot be a record.

    A quoted cell that does not close is scanned to the next qualifier that is not doubled, and a line that opens a
    cell contains such a one: so the scans of all lines together are linear in the text.
    """

    def __init__(self, lines: list[str], grammar: Grammar, at_end: bool) -> None:
        self.text = "".join(lines)
        self.starts = [0, *accumulate(map(len, lines))]
        self.lines = len(lines)
        self.at_end = at_end
        self.grammar = grammar
        self.patterns = _patterns(grammar)

    def records(self, until: int, reading: Reading) -> Generator[Record, None, bool]:
        """The records up to the first boundary at or behind a line; returns False if that takes more lines."""
        while reading.consumed < min(until, self.lines):
            line = reading.consumed
            behind = self._record_ends(line)
            if behind is not None:
                if self.text[self.starts[line] : self.starts[behind]].strip("\r\n"):
                    yield Record(line, behind - line, self._cells(line, behind))
            else:
                behind = self._next_start(line)
                if behind is None:
                    return False
                yield Record(line, behind - line, None)
            reading.consumed = behind
        return True

    def _record_ends(self, line: int) -> int | None:
        """The line behind a whole record that begins here: with the right cells, or closed on this very line."""
        whole = self.patterns.record.match(self.text, self.starts[line])
        if whole:
            return bisect_left(self.starts, whole.end())
        closed = self.patterns.any_cells.fullmatch(self.text, self.starts[line], self.starts[line + 1])
        return line + 1 if closed else None

    def is_one_open_cell(self) -> bool:
        """Whether a cell is open from the first line's record to the end, and few of the lines look like records."""
        if not self._goes_on(0):
            return False
        looked_at = range(1, self.lines, max(1, self.lines // LINES_LOOKED_AT))
        alike = sum(
            self.patterns.record.match(self.text, self.starts[line], self.starts[line + 1]) is not None
            for line in looked_at
        )
        return alike * 2 < len(looked_at)

    def _next_start(self, line: int) -> int | None:
        """The next line that starts like a record, or the end; None if that takes more lines."""
        if self._goes_on(line):
            return None
        start, decided = self.start_from(line + 1)
        return start if decided and (start < self.lines or self.at_end) else None

    def start_from(self, line: int) -> tuple[int, bool]:
        """The first line from here on that starts like a record (or the end), and whether that is certain yet."""
        for candidate in range(line, self.lines):
            if self._starts_like_a_record(candidate):
                return candidate, True
            if self._goes_on(candidate):
                return candidate, False
        return self.lines, True

    def _starts_like_a_record(self, line: int) -> bool:
        at, end = self.starts[line], self.starts[line + 1]
        if self.patterns.record.match(self.text, at) and self.text[at:end].strip("\r\n"):
            return True
        if self.grammar.quoted_start:
            return self.patterns.first_cell.match(self.text, at) is not None
        delimiters = self.text.count(self.grammar.delimiter, at, end)
        return 0 < self.grammar.cells - 1 <= delimiters <= self.grammar.cells - 1 + self.grammar.spare_cell

    def _goes_on(self, line: int) -> bool:
        return not self.at_end and self.patterns.unfinished.match(self.text, self.starts[line]) is not None

    def _cells(self, line: int, behind: int) -> list[str]:
        qualifier = self.grammar.qualifier or ""
        cells = []
        for cell in self.patterns.cell.finditer(self.text, self.starts[line], self.starts[behind]):
            quoted, bare, end = cell.groups()
            cells.append(bare.rstrip("\r") if quoted is None else quoted.replace(qualifier * 2, qualifier))
            if end != self.grammar.delimiter:
                break
        return cells


@dataclass(frozen=True)
class _Patterns:
    record: re.Pattern[str]
    any_cells: re.Pattern[str]
    first_cell: re.Pattern[str]
    unfinished: re.Pattern[str]
    closed: re.Pattern[str]
    still_open: re.Pattern[str]
    cell: re.Pattern[str]


@lru_cache(maxsize=16)
def _patterns(grammar: Grammar) -> _Patterns:
    """All possessive: what was read of a cell is never read again."""
    q, d = re.escape(grammar.qualifier or ""), re.escape(grammar.delimiter)
    cell = rf"(?:{q}(?:[^{q}]++|{q}{q})*+{q} *+|[^{q}{d}\n][^{d}\n]*+|)"
    on_one_line = rf"{q}(?:[^{q}\n]++|{q}{q})*+{q} *+"
    end = r"(?:\r?\n|\Z)"
    inside = rf"(?:[^{q}]++|{q}{q})*+"
    more = grammar.cells - 1
    spare = rf"(?:{d}(?:{q}{q} *+)?+)?+" if grammar.spare_cell else ""
    return _Patterns(
        record=re.compile(rf"{cell}(?:{d}{cell}){{{more}}}{spare}{end}"),
        any_cells=re.compile(rf"{cell}(?:{d}{cell})*+{end}"),
        first_cell=re.compile(rf"{on_one_line}{d}"),
        closed=re.compile(rf"{inside}{q} *+(?:{d}{cell})*+{end}"),
        still_open=re.compile(rf"{inside}(?:{q} *+{d}(?:{cell}{d})*+{q}{inside})?+\Z"),
        unfinished=re.compile(rf"(?:{cell}{d}){{0,{grammar.cells}}}+{q}(?:[^{q}]++|{q}{q})*+\Z"),
        cell=re.compile(rf"(?:{q}((?:[^{q}]++|{q}{q})*+){q} *+|([^{q}{d}\n][^{d}\n]*+|))({d}|\r?\n|\Z)"),
    )
