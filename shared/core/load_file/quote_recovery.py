"""Recover from damaged quoting: read the affected lines by patterns that stop at what cannot be a record."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from core.load_file.encoding import skip_marks
from core.load_file.grammar import SURPLUS_CELLS, Grammar, LineCursor, Record

MAX_SAMPLED_LINES = 1_000


class DamagedText:
    """Lines in which the csv module reported an error, read by patterns.

    The scan of an unclosed quoted cell stops at the next qualifier that is not doubled, and every line that opens a
    cell contains such a qualifier: so the scans of all lines together are linear in the text.
    """

    def __init__(self, lines: list[str], grammar: Grammar, at_end: bool, byte_order_mark: str | None = None) -> None:
        self.text = "".join(lines)
        self.starts = [0, *accumulate(map(len, lines))]
        self.lines = len(lines)
        self.at_end = at_end
        self.grammar = grammar
        self.byte_order_mark = byte_order_mark
        self.patterns = _patterns(grammar)

    def read_records(self, until: int, cursor: LineCursor) -> Generator[Record, None, bool]:
        """Yield the records up to the first boundary at or after line `until`.

        Return False if more lines are needed to reach it.
        """
        while cursor.consumed < min(until, self.lines):
            line = cursor.consumed
            end = self._find_record_end(line)
            if end is not None:
                if self.text[self._begin(line) : self.starts[end]].strip("\r\n"):
                    yield Record(line, end - line, self._read_cells(line, end))
            else:
                end = self._find_next_start(line)
                if end is None:
                    return False
                yield Record(line, end - line, None)
            cursor.consumed = end
        return True

    def _begin(self, line: int) -> int:
        """Return where a record would begin that begins on the line: after a byte order mark."""
        return skip_marks(self.text, self.byte_order_mark, self.starts[line])

    def _find_record_end(self, line: int) -> int | None:
        """Return the line after a closed record that begins at `line`.

        The record has few surplus cells or is a single line; otherwise return None.
        """
        record = self.patterns.on_any_lines.match(self.text, self._begin(line))
        if record:
            return bisect_left(self.starts, record.end())
        closed = self.patterns.any_cells.fullmatch(self.text, self._begin(line), self.starts[line + 1])
        return line + 1 if closed else None

    def is_one_open_cell(self) -> bool:
        """Return whether a cell of the first record is open at the end, and less than half the lines look like records.

        At most about `MAX_SAMPLED_LINES` lines, evenly spaced, are examined.
        """
        if not self._may_continue(0):
            return False
        sample = range(1, self.lines, max(1, self.lines // MAX_SAMPLED_LINES))
        records = sum(
            self.patterns.record.match(self.text, self._begin(line), self.starts[line + 1]) is not None
            for line in sample
        )
        return records * 2 < len(sample)

    def _find_next_start(self, line: int) -> int | None:
        """Return the next line that starts like a record, or the end; None if more lines are needed."""
        if self._may_continue(line):
            return None
        start, certain = self.find_start(line + 1)
        return start if certain and (start < self.lines or self.at_end) else None

    def find_start(self, line: int) -> tuple[int, bool]:
        """Return the first line from `line` on that starts like a record (or the end), and whether that is certain."""
        for candidate in range(line, self.lines):
            if self._starts_like_a_record(candidate):
                return candidate, True
            if self._may_continue(candidate):
                return candidate, False
        return self.lines, True

    def _starts_like_a_record(self, line: int) -> bool:
        start, end = self._begin(line), self.starts[line + 1]
        if self.patterns.record.match(self.text, start) and self.text[start:end].strip("\r\n"):
            return True
        if self.grammar.quoted_start:
            return self.patterns.first_cell.match(self.text, start) is not None
        delimiters = self.text.count(self.grammar.delimiter, start, end)
        return 0 < self.grammar.cells - 1 <= delimiters <= self.grammar.cells - 1 + self.grammar.spare_cell

    def _may_continue(self, line: int) -> bool:
        """Return whether a record that begins at this line may continue after the last line."""
        return not self.at_end and self.patterns.unfinished.match(self.text, self._begin(line)) is not None

    def _read_cells(self, line: int, end_line: int) -> list[str]:
        qualifier = self.grammar.qualifier or ""
        cells: list[str] = []
        at, stop = self._begin(line), self.starts[end_line]
        # Cell by cell: `finditer` would search behind what is not a cell, from each of its characters to the end.
        while cell := self.patterns.cell.match(self.text, at, stop):
            quoted, bare, end = cell.groups()
            cells.append(bare.rstrip("\r") if quoted is None else quoted.replace(qualifier * 2, qualifier))
            if end != self.grammar.delimiter:
                break
            at = cell.end()
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
    """Return the patterns of a grammar. All are possessive: no part of a cell is scanned twice."""
    q, d = re.escape(grammar.qualifier or ""), re.escape(grammar.delimiter)
    n, line_end = (r"\r\n", r"\r\n?|\n") if grammar.cr_ends else (r"\n", r"\r?\n")
    cell = rf"(?:{q}(?:[^{q}]++|{q}{q})*+{q} *+|[^{q}{d}{n}][^{d}{n}]*+|)"
    on_one_line = rf"{q}(?:[^{q}{n}]++|{q}{q})*+{q} *+"
    end = rf"(?:{line_end}|\Z)"
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
        cell=re.compile(rf"(?:{q}((?:[^{q}]++|{q}{q})*+){q} *+|([^{q}{d}{n}][^{d}{n}]*+|))({d}|{line_end}|\Z)"),
    )
