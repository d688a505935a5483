"""The last column of an error file: the line on which the record began in the file that was first imported.

Guaranteed: the column changes no value of a row; a record keeps its number however often it is rejected and imported
again, also if it cannot be read.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from core.load_file.encoding import split_lines
from core.load_file.field_mapping import ORIGINAL_LINE

if TYPE_CHECKING:
    from core.load_file.dialect import Opening
    from core.load_file.grammar import Grammar
    from core.load_file.layout import Layout
    from core.load_file.record_reader import SourceRecord

# A letter before the number tells it from a surplus cell of the source, which a row must not lose.
_NUMBER = r"L([1-9][0-9]{0,9})"
_LINE = re.compile(_NUMBER)
# Not blank: that would accept a row of a damaged record whose last cell is blank, one cell too far to the right.
_LINE_OR_NEW = re.compile(rf"{_NUMBER}|(?i:new)")
# A number with its delimiters and qualifiers has less, without the spaces after the last qualifier.
_MAX_CELL_CHARACTERS = 64


def has_line_column(layout: Layout | Opening) -> bool:
    """Return whether the file's last column holds the original lines."""
    return layout.fields[-1] == ORIGINAL_LINE


def format_line(line: int) -> str:
    """Return the text of the column's cell for a line."""
    return f"L{line}"


def is_line_cell(cell: str) -> bool:
    """Return whether a cell of the column is a line, or the word for a row that the user added.

    Anything else, also a blank cell, may be a surplus cell of the row.
    """
    return _LINE_OR_NEW.fullmatch(cell) is not None


def find_original_line(record: SourceRecord, layout: Layout) -> int | None:
    """Return the number in a record's last cell, None if it has none or the file does not have the column.

    The record may have any number of cells. Of a record that cannot be read it is the number that `read_chunk` found.
    A correction has the line in the import that it corrects.
    """
    if layout.json_cells:
        return record.original_line
    if not has_line_column(layout):
        return None
    if record.cells is None:
        return record.original_line
    has_spare = layout.grammar.spare_cell and record.cells[-1:] == [""]
    cells = record.cells[:-1] if has_spare else record.cells
    found = _LINE.fullmatch(cells[-1]) if len(cells) > 1 else None
    return int(found[1]) if found else None


def find_last_line(text: str, layout: Layout) -> int | None:
    """Return the number at the end of a record's text; None if it has none or the file does not have the column."""
    return _find_number(text, layout.grammar) if has_line_column(layout) else None


def find_joined_line(texts: list[str], layout: Layout | Opening, *, is_sound: bool) -> int | None:
    """Return the number at the end of the first physical line of a record that has one, None if none has.

    Every record of an error file ends in its number. So a record with a number before its last line is several records
    that a qualifier joins, and the number is that of the first of them. The last line of a sound record has its own.
    """
    if not has_line_column(layout):
        return None
    numbers = (_find_number(text, layout.grammar) for text in (texts[:-1] if is_sound else texts))
    return next((number for number in numbers if number is not None), None)


def is_one_row(raw: bytes, cells: list[str], opening: Opening) -> bool:
    """Return whether the lines in a sound record of an error file do not reject it."""
    grammar = opening.grammar
    texts = split_lines(raw, opening.dialect.view, grammar.cr_ends).texts
    return is_line_cell(cells[grammar.cells - 1]) and find_joined_line(texts, opening, is_sound=True) is None


def _find_number(text: str, grammar: Grammar) -> int | None:
    """Return the number after the last delimiter of the text, None if something else is there."""
    text = text.rstrip("\r\n")
    start = max(0, len(text.rstrip(" ")) - _MAX_CELL_CHARACTERS)
    found = _compile_end(grammar).search(text, start)
    return int(found[1] or found[2]) if found else None


@lru_cache(maxsize=16)
def _compile_end(grammar: Grammar) -> re.Pattern[str]:
    q, d = re.escape(grammar.qualifier or ""), re.escape(grammar.delimiter)
    quoted = rf"{q}{_NUMBER}{q} *" if q else "(?!)()"
    spare = rf"(?:{d}(?:{q}{q} *)?)?" if grammar.spare_cell else ""
    return re.compile(rf"{d}(?:{quoted}|{_NUMBER}){spare}\Z")
