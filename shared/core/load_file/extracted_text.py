"""The text of a document that the cells of its row hold: which columns have it, and how their cells are put together.

Guaranteed: the text is the cells as they are decoded, with line breaks in place of the character that stands for them,
one after the other and with nothing between: a text that is too long for one column goes on in the next (OCR1, OCR2).
A row whose cells are blank, or `<nil>`, has no text. The check, the import and the preview of a file read the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.load_file.field_mapping import ColumnMapping, MappingReason
from core.load_file.given_columns import EXTRACTED_TEXT
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.header_names import normalise_name
from core.load_file.layout import Layout

MAX_PATH_CHARACTERS, SAMPLE_RECORDS = 1_024, 100
_NIL = "<nil>"
_NUMBERED = re.compile(r"(.*?)([0-9]+)")
_PATH = re.compile(r"[^\r\n\u00ae]+\.te?xt\s*", re.IGNORECASE)


class TextColumns(NamedTuple):
    """The columns of the text in the order in which their cells are joined, and that of the path of a text file."""

    indexes: tuple[int, ...]
    path: int | None
    newline: str | None

    def join(self, cells: Sequence[str]) -> str | None:
        """Return the text of a row's cells; None if it has none."""
        parts = [cells[index] for index in self.indexes if index < len(cells)]
        text = "".join(part for part in parts if part != _NIL)
        text = text.replace(self.newline, "\n") if self.newline else text
        return text if text.strip(ASCII_WHITESPACE) else None

    def has_both(self, cells: Sequence[str]) -> bool:
        """Return whether a row has a text and the path of a text file."""
        return self.path is not None and bool(cells[self.path].strip()) and self.join(cells) is not None


def find_text_columns(layout: Layout) -> TextColumns:
    """Return the columns of the text in a file; without any, the rows have no text."""
    found = layout.find_columns(EXTRACTED_TEXT)
    paths = layout.find_columns("text_path")
    return TextColumns(tuple(_order(found, layout.names)), paths[0] if paths else None, layout.newline)


def _order(indexes: Sequence[int], names: Sequence[str]) -> list[int]:
    """Return the columns by the number at the end of their names, if it is all that tells them apart, else in order."""
    split = [_NUMBERED.fullmatch(normalise_name(names[index])) for index in indexes]
    if any(found is None for found in split) or len({found[1] for found in split if found}) > 1:
        return list(indexes)
    return sorted(indexes, key=lambda index: _read_number(names[index]))


def _read_number(name: str) -> int:
    found = _NUMBERED.fullmatch(normalise_name(name))
    return int(found[2]) if found else 0


def leave_out_paths(columns: Sequence[ColumnMapping], records: Sequence[Sequence[str]]) -> tuple[ColumnMapping, ...]:
    """Return the columns with those as properties whose names mean the text, and whose cells are paths.

    `records` are cells of the first ones. What the uploader says a column is, is not changed.
    """
    return tuple(
        replace(column, field=None, why=MappingReason.PROPERTY)
        if column.field == EXTRACTED_TEXT
        and column.why in (MappingReason.SYNONYM, MappingReason.PATTERN)
        and holds_paths(cells[index] for cells in records if index < len(cells))
        else column
        for index, column in enumerate(columns)
    )


def holds_paths(cells: Iterable[str]) -> bool:
    """Return whether the cells that are not blank are paths: one line that ends as the name of a text file does."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(len(cell) <= MAX_PATH_CHARACTERS and _PATH.fullmatch(cell) for cell in filled)
