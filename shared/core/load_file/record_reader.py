"""Read lines into records, in the same way for the splitter and for the chunks.

Records are read strictly: a qualifier counts only at the start of a cell, a doubled qualifier inside the cell is a
literal one, and only spaces, the delimiter or the end of the line may follow the closing qualifier. Completely empty
lines are not records. Byte order marks at the beginning of a record are not part of it; elsewhere they are data.

Guaranteed: the result depends on the lines of the record alone and never on the block or chunk that contained them; an
unclosed qualifier damages its own record and not the next one (unless a stray qualifier there closes it); reading time
is linear in the text for a given number of columns.

A record ends where its quoting closes, whatever its number of cells: a row of several lines with one cell too many is
one bad row, and none of its lines is read as a row. If the quoting does not close, or closes only many cells later, it
is damaged. A damaged record extends to the next line that starts like a record. Such a line begins a complete record
with the expected number of cells; or has as many delimiters as a record; or, if records begin with a qualifier, has a
closed first cell that the delimiter follows.
"""

from __future__ import annotations

import csv
from bisect import bisect_left
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, NamedTuple

from core.load_file.encoding import Lines, skip_marks
from core.load_file.grammar import MAX_CELL_CHARACTERS, Grammar, LineCursor, Record
from core.load_file.quote_recovery import DamagedText

if TYPE_CHECKING:
    from _csv import Reader

# Noncharacters first, which text should not contain; the characters after them serve a text that contains them all.
_MARKS = range(0xFDD0, 0x110000)


class SourceRecord(NamedTuple):
    """A record of the file: its first physical line, its number of lines, its bytes and its cells.

    `cells` is None if the quoting is damaged; `original_line` is then the first number at the end of one of its lines,
    if it is of an error file and has one. There, a number before the last line shows that the quoting is damaged.
    `seen_version` is the version of the document that a correction of an overlay states.
    """

    line_no: int
    line_count: int
    byte_start: int
    byte_len: int
    cells: list[str] | None
    original_line: int | None = None
    seen_version: int | None = None


def read_single_line_records(lines: Lines, grammar: Grammar) -> list[list[str]] | None:
    """Return the cells of each line if every line is one record, as in most chunks: the records of `read_records`.

    Return None, having read nothing, if a record has several lines or no value, or a line is empty, has a bare CR, a
    byte order mark or damaged quoting.
    """
    if lines.bare_cr or lines.mark:
        return None
    try:
        rows = list(strict_reader(iter(lines.texts), grammar))
    except csv.Error:
        return None
    if len(rows) != len(lines.texts) or [] in rows or any(map(grammar.is_blank, rows)):
        return None
    return rows


def read_records(lines: Lines, grammar: Grammar, *, at_end: bool, cursor: LineCursor) -> Iterator[Record]:
    """Yield the records of the lines in order, without blank lines.

    With `at_end`, no lines follow. Without it, a last record that may continue is not read: after the iterator is
    exhausted, `cursor.consumed` is the line from which to read again when more lines are available.
    """
    texts, mark = _replace_bare_cr(lines)
    for record in _records(texts, lines.mark, grammar, at_end, cursor):
        cells = record.cells
        yield record if mark is None or cells is None else record._replace(cells=[c.replace(mark, "\r") for c in cells])


def _replace_bare_cr(lines: Lines) -> tuple[list[str], str | None]:
    """Return the lines with a mark for every CR that is not followed by LF, and the mark.

    The csv module takes such a CR for the end of a record or for an error; in a load file it is data. Without such a
    CR, return the lines unchanged and None.
    """
    if not lines.bare_cr:
        return lines.texts, None
    mark = _find_unused_character(lines.texts)
    return [_replace_cr(line, mark) for line in lines.texts], mark


def _find_unused_character(lines: list[str]) -> str:
    used = set().union(*lines)
    return next(mark for mark in map(chr, _MARKS) if mark not in used)


def _replace_cr(line: str, mark: str) -> str:
    body, end = (line[:-2], "\r\n") if line.endswith("\r\n") else (line, "")
    return body.replace("\r", mark) + end


def _records(
    lines: list[str], byte_order_mark: str | None, grammar: Grammar, at_end: bool, cursor: LineCursor
) -> Iterator[Record]:
    damaged: DamagedText | None = None
    while cursor.consumed < len(lines):
        damage_end = yield from _read_sound_records(lines, byte_order_mark, grammar, cursor)
        if damage_end is None:
            return
        damaged = damaged or DamagedText(lines, grammar, at_end, byte_order_mark)
        complete = yield from damaged.read_records(damage_end, cursor)
        if not complete:
            return


def _read_sound_records(
    lines: list[str], byte_order_mark: str | None, grammar: Grammar, cursor: LineCursor
) -> Generator[Record, None, int | None]:
    """Yield the records that the csv module reads, up to the first damaged one.

    Return the line after the part of that record that the module read, or None at the end of the lines.
    """
    base = first = cursor.consumed
    reader = strict_reader(_unmarked_lines(lines, byte_order_mark, cursor), grammar)
    try:
        for cells in reader:
            end = base + reader.line_num
            if grammar.spans_neighbours(cells, end - first):
                return end
            if cells:
                yield Record(first, end - first, cells)
            cursor.consumed = first = end
    except csv.Error:
        return base + reader.line_num
    return None


def _unmarked_lines(lines: list[str], byte_order_mark: str | None, cursor: LineCursor) -> Iterator[str]:
    """Return the lines from the cursor on, without the mark where a line begins a record."""
    base = cursor.consumed
    if byte_order_mark is None:
        # islice would iterate over the lines before the base again for every damaged record.
        return (lines[index] for index in range(base, len(lines))) if base else iter(lines)
    return (
        # The reader takes the first line of a record when the cursor is there.
        lines[index][skip_marks(lines[index], byte_order_mark) :] if index == cursor.consumed else lines[index]
        for index in range(base, len(lines))
    )


def strict_reader(lines: Iterator[str], grammar: Grammar) -> Reader:
    """Return a csv reader of the lines, in which every CR must be followed by LF."""
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    return csv.reader(
        lines,
        delimiter=grammar.delimiter,
        quotechar=grammar.qualifier,
        quoting=csv.QUOTE_NONE if grammar.qualifier is None else csv.QUOTE_MINIMAL,
        strict=True,
    )


def find_record_start(lines: Lines, grammar: Grammar, *, at_end: bool, first: int) -> tuple[int, bool]:
    """Return the first line from `first` on that starts like a record, and whether that is certain.

    For a reader that no longer has the beginning of the record before. The line is the number of lines if no line
    starts like a record. The result is uncertain if more lines could show that a record starts there.
    """
    if grammar.qualifier is None:
        return min(first, len(lines.texts)), True
    return DamagedText(_replace_bare_cr(lines)[0], grammar, at_end, lines.mark).find_start(first)


def ends_in_open_cell(lines: Lines, grammar: Grammar) -> bool:
    """Return whether the lines are the beginning of a single, soundly quoted record whose last cell is still open.

    The answer is no if half of the lines read as records by themselves: then an earlier qualifier was left open.
    """
    if grammar.qualifier is None:
        return False
    return DamagedText(_replace_bare_cr(lines)[0], grammar, False, lines.mark).is_one_open_cell()


def find_large_cell_end(lines: Lines, grammar: Grammar) -> tuple[int | None, bool]:
    """Return the end of the record for lines that begin inside one of its quoted cells.

    The first value is the line after the record, or None if the record does not end in these lines. The second is
    whether the lines end inside a quoted cell. The result is (None, False) if the quoting is damaged.
    """
    text = DamagedText(_replace_bare_cr(lines)[0], grammar, False, lines.mark)
    closed = text.patterns.closed.match(text.text)
    if closed:
        return bisect_left(text.starts, closed.end()), False
    return None, text.patterns.still_open.match(text.text) is not None
