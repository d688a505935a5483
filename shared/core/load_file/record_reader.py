"""Lines to records, in the one way that the splitter and the chunks share.

A record is read strictly: the qualifier counts only at the start of a cell, doubled inside it is one, and behind the
closing one stand only spaces, the delimiter or the line's end. Exactly empty lines are no records.

Guaranteed: the outcome depends on the record's own lines and never on the block or chunk they came in; an unclosed
qualifier costs the record it stands in and not its neighbour (unless a stray one there closes it); the time to read is
linear in the text for a given number of columns.

A record ends where its quoting closes, whatever its number of cells: a row with a cell too many over several lines is
one bad row, and none of its lines is taken for a row. Where the quoting does not close, or only many cells later, it is
damaged. Such a record reaches to the next line that starts like a record: a line from which a whole record
with the right number of cells can be read; or that has as many delimiters as a record; or, where records begin with a
qualifier, whose first cell is closed and followed by the delimiter.
"""

from __future__ import annotations

import csv
from bisect import bisect_left
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from core.load_file.damaged import DamagedText
from core.load_file.encoding import Lines
from core.load_file.grammar import MAX_CELL_CHARACTERS, Grammar, Reading, Record

if TYPE_CHECKING:
    from _csv import Reader

# Noncharacters first: no text ought to have them; what follows serves a text that has them all.
_MARKS = range(0xFDD0, 0x110000)


def read_records(lines: Lines, grammar: Grammar, *, at_end: bool, reading: Reading) -> Iterator[Record]:
    """The records of the lines, in order; blank lines are skipped.

    With `at_end` the lines are all there is. Without it, a last record that may go on is left: `reading.consumed`,
    valid when the iterator is exhausted, says from which line to read again once there are more.
    """
    texts, mark = _shielded(lines)
    for record in _records(texts, grammar, at_end, reading):
        cells = record.cells
        yield record if mark is None or cells is None else record._replace(cells=[c.replace(mark, "\r") for c in cells])


def _shielded(lines: Lines) -> tuple[list[str], str | None]:
    """The lines with a mark for every CR that no LF follows, and the mark; (the lines, None) without such a CR.

    The csv module takes one for a record's end, or for an error; to us it is data.
    """
    if not lines.bare_cr:
        return lines.texts, None
    mark = _unused_character(lines.texts)
    return [_with_mark(line, mark) for line in lines.texts], mark


def _unused_character(lines: list[str]) -> str:
    used = set().union(*lines)
    return next(mark for mark in map(chr, _MARKS) if mark not in used)


def _with_mark(line: str, mark: str) -> str:
    body, end = (line[:-2], "\r\n") if line.endswith("\r\n") else (line, "")
    return body.replace("\r", mark) + end


def _records(lines: list[str], grammar: Grammar, at_end: bool, reading: Reading) -> Iterator[Record]:
    damaged: DamagedText | None = None
    while reading.consumed < len(lines):
        trouble_ends = yield from _strict_run(lines, grammar, reading)
        if trouble_ends is None:
            return
        damaged = damaged or DamagedText(lines, grammar, at_end)
        complete = yield from damaged.records(trouble_ends, reading)
        if not complete:
            return


def _strict_run(lines: list[str], grammar: Grammar, reading: Reading) -> Generator[Record, None, int | None]:
    """Records as the csv module reads them, up to the first that is in trouble.

    Returns the line behind what the module read of that one, or None at the end of the lines.
    """
    base = first = reading.consumed
    # islice would count its way to the base again for every damaged record.
    reader = strict_reader((lines[index] for index in range(base, len(lines))) if base else iter(lines), grammar)
    try:
        for cells in reader:
            behind = base + reader.line_num
            if grammar.swallowed(cells, behind - first):
                return behind
            if cells:
                yield Record(first, behind - first, cells)
            reading.consumed = first = behind
    except csv.Error:
        return base + reader.line_num
    return None


def strict_reader(lines: Iterator[str], grammar: Grammar) -> Reader:
    """The csv module on lines none of which has a CR that no LF follows."""
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    return csv.reader(
        lines,
        delimiter=grammar.delimiter,
        quotechar=grammar.qualifier,
        quoting=csv.QUOTE_NONE if grammar.qualifier is None else csv.QUOTE_MINIMAL,
        strict=True,
    )


def find_start(lines: Lines, grammar: Grammar, *, at_end: bool, first: int) -> tuple[int, bool]:
    """The first line from `first` on that starts like a record, for whoever lost the beginning of the one before.

    Returns (line, certain): the line is the number of lines if there is none; it is not certain if more lines could
    show that a record starts there.
    """
    if grammar.qualifier is None:
        return min(first, len(lines.texts)), True
    return DamagedText(_shielded(lines)[0], grammar, at_end).start_from(first)


def opens_large_cell(lines: Lines, grammar: Grammar) -> bool:
    """Whether the lines are the beginning of one record, soundly quoted, whose last cell they do not close.

    Not so if half of the lines read as records by themselves: then a qualifier was left open in front of them.
    """
    if grammar.qualifier is None:
        return False
    return DamagedText(_shielded(lines)[0], grammar, at_end=False).is_one_open_cell()


def end_of_large_cell(lines: Lines, grammar: Grammar) -> tuple[int | None, bool]:
    """For lines that begin inside a quoted cell: the line behind its record (None: not among them), and whether the
    lines end inside a quoted cell; (None, False) if the quoting is damaged.
    """
    text = DamagedText(_shielded(lines)[0], grammar, at_end=False)
    closed = text.patterns.closed.match(text.text)
    if closed:
        return bisect_left(text.starts, closed.end()), False
    return None, text.patterns.still_open.match(text.text) is not None
