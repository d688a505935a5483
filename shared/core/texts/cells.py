"""The text of a document that the cells of its row hold: which columns have it, and how their cells are put together.

Guaranteed: the text is the cells as they are decoded, with line breaks in place of the character that stands for them,
one after the other and with nothing between: a text that is too long for one column goes on in the next (OCR1, OCR2).
A row whose cells are blank, or `<nil>`, has no text. The check, the import and the preview of a file read the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

EXTRACTED_TEXT = "extracted_text"
# Of ASCII: a no-break space is a text.
_WHITESPACE = " \t\n\r\v\f"
_NIL = "<nil>"
_DIGITS, _MOST_DIGITS = frozenset("0123456789"), 9


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
        return text if text.strip(_WHITESPACE) else None

    def has_both(self, cells: Sequence[str]) -> bool:
        """Return whether a row has a text and the path of a text file."""
        return self.path is not None and bool(cells[self.path].strip()) and self.join(cells) is not None


def find_text_columns(names: Sequence[str], fields: Sequence[str | None], newline: str | None) -> TextColumns:
    """Return the columns of the text in a file; without any, the rows have no text."""
    found = [index for index, field in enumerate(fields) if field == EXTRACTED_TEXT]
    path = fields.index("text_path") if "text_path" in fields else None
    return TextColumns(tuple(_order(found, names)), path, newline)


def _order(indexes: Sequence[int], names: Sequence[str]) -> list[int]:
    """Return the columns by the number at the end of their names, if it is all that tells them apart, else in order."""
    split = {index: _split_number(names[index].casefold()) for index in indexes}
    numbered = {index: found for index, found in split.items() if found}
    if len(numbered) < len(indexes) or len({base for base, _ in numbered.values()}) > 1:
        return list(indexes)
    return sorted(indexes, key=numbered.__getitem__)


def _split_number(name: str) -> tuple[str, int] | None:
    """Return a name without the number at its end and the signs around that, and the number; None without one."""
    end = _find_end(name, len(name))
    start = end
    while start and name[start - 1] in _DIGITS and end - start < _MOST_DIGITS:
        start -= 1
    return (name[: _find_end(name, start)], int(name[start:end])) if start < end else None


def _find_end(name: str, end: int) -> int:
    """Return where the last letter or digit before `end` ends."""
    while end and not name[end - 1].isalnum():
        end -= 1
    return end
