"""What the rows of an overlay do to the texts of their exhibits.

Guaranteed: texts are compared by their SHA-256, under the exhibits' locks if there is a write. A row without a text
changes none, unless blanks clear and the file has a column for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from core.exhibit_history import TEXT_ID, Change, Key, Kind
from core.load_file.layout import Layout
from core.load_mode import Blanks
from core.texts.cells import EXTRACTED_TEXT
from core.texts.packs import TextPack
from shell.exhibits.updates import KeyedExhibit
from shell.imports.rows.coercion import StorableRow

TEXT_KEY = Key(Kind.FIELD, TEXT_ID)
# The id of a text that is not inserted yet.
NEW_TEXT = "new"


class TextChange(NamedTuple):
    """The change of an exhibit's text, None if it keeps it; and whether the row states a text, or none."""

    change: Change | None = None
    is_stated: bool = False


class ChunkTexts:
    """The texts of one chunk's rows, and the hashes of those that the exhibits have, by exhibit."""

    def __init__(self, layout: Layout, pack: TextPack, current: Mapping[int, bytes]) -> None:
        self._pack, self._current = pack, current
        self._clears = layout.load_mode.blanks is Blanks.CLEAR and EXTRACTED_TEXT in layout.fields

    def compare(self, row: StorableRow, exhibit: KeyedExhibit) -> TextChange:
        """Return what the row does to the text of its exhibit."""
        digest = self._pack.hashes.get(row.source.line_no)
        if digest is None and not self._clears:
            return TextChange()
        if digest == self._current.get(exhibit.id):
            return TextChange(is_stated=True)
        old = None if exhibit.text_id is None else str(exhibit.text_id)
        return TextChange(Change(old, None if digest is None else NEW_TEXT), is_stated=True)
