"""The text of a document that the cells of its row hold: which columns have it, and how their cells are put together.

Guaranteed: the text is the cells as they are decoded, with line breaks in place of the character that stands for them,
one after the other and with nothing between: a text that is too long for one column goes on in the next (OCR1, OCR2).
A row whose cells are blank, or `<nil>`, has no text. The check, the import and the preview of a file read the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

EXTRACTED_TEXT = "extracted_text"
# Of ASCII: a no-break space is a text.
_WHITESPACE = " \t\n\r\v\f"
_NIL = "<nil>"
_NUMBERED = re.compile(r"(.*?)[\W_]*([0-9]{1,9})[\W_]*", re.DOTALL)


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
    split = {index: _NUMBERED.fullmatch(names[index].casefold()) for index in indexes}
    numbered = {index: (found[1], int(found[2])) for index, found in split.items() if found}
    if len(numbered) < len(indexes) or len({base for base, _ in numbered.values()}) > 1:
        return list(indexes)
    return sorted(indexes, key=numbered.__getitem__)
