"""Lines in which the csv module meets damaged quoting, read by patterns that stop at what cannot be a record."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from core.load_file.grammar import SURPLUS_CELLS, Grammar, Reading, Record

LINES_LOOKED_AT = 1_000


class DamagedText:
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
        """The line behind a record that begins here and is closed: with few surplus cells, or on this very line."""
        whole = self.patterns.on_any_lines.match(self.text, self.starts[line])
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
    on_any_lines: re.Pattern[str]
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
        on_any_lines=re.compile(rf"{cell}(?:{d}{cell}){{0,{more + SURPLUS_CELLS}}}+{end}"),
        any_cells=re.compile(rf"{cell}(?:{d}{cell})*+{end}"),
        first_cell=re.compile(rf"{on_one_line}{d}"),
        closed=re.compile(rf"{inside}{q} *+(?:{d}{cell})*+{end}"),
        still_open=re.compile(rf"{inside}(?:{q} *+{d}(?:{cell}{d})*+{q}{inside})?+\Z"),
        unfinished=re.compile(rf"(?:{cell}{d}){{0,{more + SURPLUS_CELLS}}}+{q}(?:[^{q}]++|{q}{q})*+\Z"),
        cell=re.compile(rf"(?:{q}((?:[^{q}]++|{q}{q})*+){q} *+|([^{q}{d}\n][^{d}\n]*+|))({d}|\r?\n|\Z)"),
    )
