"""Decide what the regular rows of an overlay change, a slice of them at a time.

Guaranteed: what is written for a row is, byte for byte, what `compare_values` and the history make of it; a test
compares the two ways. Rows with an exception are left to them: blanks that clear, texts, ids with spaces around them,
Bates numbers that change, properties that do not fit or have another order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import compress
from typing import Any

from sqlalchemy.orm import Session

from core.exhibit_dates import DATE_FIELDS, Precision, change_precisions
from core.exhibit_history import compress_document, precision_field
from core.imports.overlay import RowOverlay
from core.load_file.layout import Layout
from core.texts.cells import EXTRACTED_TEXT
from shell.db.column_limits import ColumnLimit
from shell.exhibits.history import EncodedEntry
from shell.exhibits.updates import FileColumns
from shell.imports.overlays.column_keys import Candidate, KeyColumns
from shell.imports.overlays.column_texts import ColumnTexts
from shell.settings import properties_format
from shell.utils.document_properties import TEXT_COLUMN_BYTES


@dataclass(frozen=True)
class ColumnChanges:
    """What regular rows do: those that change nothing, and those that do, with their columns and history."""

    unchanged: Sequence[Candidate] = ()
    changed: Sequence[Candidate] = ()
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    entries: Sequence[EncodedEntry] = ()


NO_COLUMN_CHANGES = ColumnChanges()


class ColumnComparison:
    """Compares the rows of one file."""

    def __init__(self, layout: Layout, overlay: RowOverlay, limit: ColumnLimit) -> None:
        self._overlay = overlay
        self._room = limit.bytes or TEXT_COLUMN_BYTES
        has_texts = EXTRACTED_TEXT in layout.fields
        self._is_possible = not overlay.clears and not has_texts and properties_format() == "json"

    def compare(
        self, transaction: Session, candidates: Sequence[Candidate]
    ) -> tuple[ColumnChanges, Sequence[Candidate]]:
        """Return what the regular rows change, and the other rows."""
        regular = [each for each in candidates if self._is_readable(each)]
        if not regular:
            return NO_COLUMN_CHANGES, candidates
        keys = KeyColumns(self._overlay, regular)
        texts = ColumnTexts(keys)
        files = FileColumns(transaction, {each.stored[1] for each in regular})
        properties = texts.write_properties(files)
        keys.note(each is not None and self._is_too_long(each) for each in properties)
        taken = {each.exhibit.id for index, each in enumerate(regular) if index not in keys.irregular}
        others = [each for each in candidates if each.exhibit.id not in taken]
        return self._build(keys, texts, properties), others

    def _is_readable(self, candidate: Candidate) -> bool:
        stored = candidate.stored[2]
        return self._is_possible and bool(candidate.row.values) and (stored is None or stored.startswith("{"))

    def _is_too_long(self, properties: str) -> bool:
        return 4 * len(properties) > self._room and len(properties.encode()) > self._room

    def _build(self, keys: KeyColumns, texts: ColumnTexts, properties: Sequence[str | None]) -> ColumnChanges:
        writes = [
            is_changed or bool(each.links.added or each.links.removed)
            for is_changed, each in zip(keys.changed, keys.candidates, strict=True)
        ]
        regular = [index not in keys.irregular for index in range(len(writes))]
        chosen = [is_regular and is_written for is_regular, is_written in zip(regular, writes, strict=True)]
        unchanged = [is_regular and not is_written for is_regular, is_written in zip(regular, writes, strict=True)]
        changed = list(compress(keys.candidates, chosen))
        if not changed:
            return ColumnChanges(list(compress(keys.candidates, unchanged)))
        documents, stated = compress(texts.write_histories(), chosen), compress(texts.write_statements(), chosen)
        entries = [
            EncodedEntry(
                *(each.exhibit.id, each.exhibit.version + 1, each.row.source.line_no),
                *(compress_document(document), statement),
            )
            for each, document, statement in zip(changed, documents, stated, strict=True)
        ]
        columns = {name: list(compress(column, chosen)) for name, column in _list_values(keys, properties).items()}
        return ColumnChanges(list(compress(keys.candidates, unchanged)), changed, columns, entries)


def _list_values(keys: KeyColumns, properties: Sequence[str | None]) -> dict[str, Sequence[Any]]:
    """Return the columns that change in any row, with their values after the changes."""
    values: dict[str, Sequence[Any]] = {
        name: [new if is_changed else old for is_changed, old, new in column.list_values()]
        for name, column in keys.fields.items()
        if name in keys.stored and any(column.changed)
    }
    dates = [date for date in DATE_FIELDS if date in keys.fields and any(keys.fields[precision_field(date)].changed)]
    if dates:
        letters = zip(*(_list_letters(keys, date) for date in dates), strict=True)
        stored = zip(keys.stored["date_precision"], letters, strict=True)
        values["date_precision"] = [_change_letters(before, tuple(dates), row) for before, row in stored]
    if any(any(each.changed) for each in keys.named.values()):
        values["document_properties"] = properties
    rows = zip(keys.changed, keys.candidates, strict=True)
    values["row_hash"] = [None if is_changed else each.exhibit.row_hash for is_changed, each in rows]
    return values


def _list_letters(keys: KeyColumns, date: str) -> list[str | None]:
    """Return the new precision of each row's date, None where it does not change."""
    rows = keys.fields[precision_field(date)].list_values()
    return [str(new or Precision.NONE) if is_changed else None for is_changed, _, new in rows]


@lru_cache(maxsize=256)
def _change_letters(before: str | None, dates: tuple[str, ...], letters: tuple[str | None, ...]) -> str | None:
    changes = {date: Precision(letter) for date, letter in zip(dates, letters, strict=True) if letter}
    return change_precisions(before, changes) if changes else before
