"""Decide what the rows of a chunk change in the exhibits of their case.

Guaranteed: a decision is made from the values that are stored when it is made; for a write they are read under locks,
for a check without. Reading is bounded: the exhibits of a chunk can take 64 KB each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from core.bates_numbers import describe_change
from core.codes import WarningCode
from core.errors import UnavailableError
from core.exhibit_history import Change, Changes, Key, Kind, Stated
from core.imports.overlay import RowOverlay
from core.load_file.layout import Layout
from core.load_file.original_lines import find_original_line
from core.load_file.rows import ValueChange
from core.texts.cells import EXTRACTED_TEXT
from shell.db.column_limits import column_limits
from shell.exhibits.texts import read_text_hashes
from shell.exhibits.updates import (
    ExhibitUpdate,
    KeyedExhibit,
    StoredDocument,
    build_documents,
    select_values,
    slice_exhibits,
)
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.number_claims import BATES_KEYS, find_replaced
from shell.imports.chunks.overlay_targets import OverlayTargets
from shell.imports.chunks.overlay_texts import TEXT_KEY, ChunkTexts, TextChange
from shell.imports.chunks.overlay_values import ValueChanges, compare_values, list_stated
from shell.imports.chunks.results import RowResults
from shell.imports.corrections.changed_since import CorrectedDocument, find_changed
from shell.imports.overlays.column_keys import Candidate
from shell.imports.overlays.columns import NO_COLUMN_CHANGES, ColumnChanges, ColumnComparison
from shell.imports.overlays.links import NO_LINK_CHANGES, ChunkLinks, LinkChanges
from shell.imports.rows.coercion import StorableRow, build_path_warning
from shell.utils.document_properties import PropertyChange

_RANGE = tuple(key.name for key in BATES_KEYS)
_ROW_HASH = Key(Kind.FIELD, "row_hash")


class OverlaidRow(NamedTuple):
    """A row that changes its exhibit; `update` has all values of the exhibit, also if only links change."""

    row: StorableRow
    exhibit: KeyedExhibit
    update: ExhibitUpdate
    changes: Changes
    links: LinkChanges
    stated: Stated


class DecidedRows(NamedTuple):
    """The rows of a slice that change their exhibits: those decided row by row, and those decided by column."""

    rows: list[OverlaidRow]
    columns: ColumnChanges = NO_COLUMN_CHANGES


class ChunkOverlay:
    """The overlay of one attempt at one chunk; adds its rejected and unchanged rows to `results`."""

    def __init__(self, chunk_input: ChunkInput, results: RowResults) -> None:
        self._input, self._results = chunk_input, results
        self._overlay = RowOverlay(chunk_input.layout)
        self._links = ChunkLinks(chunk_input.layout, self._overlay, chunk_input.found_names)
        self._limit = column_limits("exhibits")["document_properties"]
        self._columns = ColumnComparison(chunk_input.layout, self._overlay, self._limit)
        self._texts = ChunkTexts(chunk_input.layout, chunk_input.pack, {})

    def decide(
        self, transaction: Session, targets: Sequence[tuple[StorableRow, KeyedExhibit]], *, by_column: bool = False
    ) -> Iterator[DecidedRows]:
        """Yield the rows that change their exhibits, a bounded slice at a time; the others are `unchanged`.

        With `by_column`, regular rows are decided by column. Raises UnavailableError, so that the chunk is read again,
        if its rows were read without values because all of them had the hashes of their exhibits, and one has not any
        more.
        """
        links = self._links.find(transaction, targets)
        self._texts = self._read_texts(transaction, [exhibit.id for _, exhibit in targets])
        rows = {exhibit.id: row for row, exhibit in targets}
        decide = self._decide_columns if by_column else self._decide_rows
        for part in slice_exhibits([exhibit for _, exhibit in targets]):
            yield decide(transaction, self._read(transaction, [(rows[each.id], each) for each in part], links))

    def _read(
        self,
        transaction: Session,
        part: Sequence[tuple[StorableRow, KeyedExhibit]],
        links: Mapping[int, LinkChanges],
    ) -> list[Candidate]:
        """Return the rows that may change their exhibits, with what is stored; the others are `unchanged`."""
        ids = [exhibit.id for row, exhibit in part if self._may_change(row, exhibit, links.get(exhibit.id))]
        stored = {each[0]: each for each in select_values(transaction, ids)} if ids else {}
        self._results.unchanged += [(row, exhibit.id) for row, exhibit in part if exhibit.id not in stored]
        return [
            Candidate(row, exhibit, stored[exhibit.id], links.get(exhibit.id, NO_LINK_CHANGES))
            for row, exhibit in part
            if exhibit.id in stored
        ]

    def _may_change(self, row: StorableRow, exhibit: KeyedExhibit, links: LinkChanges | None) -> bool:
        changes_links = links is not None and bool(links.added or links.removed)
        return changes_links or not self._has_values(row, exhibit) or bool(self._texts.compare(row, exhibit).change)

    def _decide_columns(self, transaction: Session, read: Sequence[Candidate]) -> DecidedRows:
        # The key of some rows names their document by another of its numbers.
        regular = [each for each in read if each.row.source.line_no not in self._results.by_number]
        columns, others = self._columns.compare(transaction, regular)
        self._results.unchanged += [(each.row, each.exhibit.id) for each in columns.unchanged]
        rest = [each for each in read if each.row.source.line_no in self._results.by_number]
        return DecidedRows(self.decide_rows(transaction, [*others, *rest]), columns)

    def _decide_rows(self, transaction: Session, read: Sequence[Candidate]) -> DecidedRows:
        return DecidedRows(self.decide_rows(transaction, read))

    def decide_rows(self, transaction: Session, read: Sequence[Candidate]) -> list[OverlaidRow]:
        """Decide row by row; return the rows that change their exhibits, the others are `unchanged`."""
        stored = build_documents(transaction, [each.stored for each in read])
        decided = (self._decide(each.row, each.exhibit, stored[each.exhibit.id], each.links) for each in read)
        return self._leave_out_changed(transaction, [overlaid for overlaid in decided if overlaid])

    def _leave_out_changed(self, transaction: Session, part: list[OverlaidRow]) -> list[OverlaidRow]:
        """Reject the rows of a correction whose documents were changed since the import that it corrects (D292)."""
        original_id = self._input.import_record.corrects_import_id
        if original_id is None:
            return part
        documents = [_describe_document(each, self._input.layout) for each in part]
        refused = find_changed(transaction, original_id, self._input.layout, documents)
        self._results.rejected += [
            (each.row, [refused[each.exhibit.id]]) for each in part if each.exhibit.id in refused
        ]
        return [each for each in part if each.exhibit.id not in refused]

    def _decide(
        self, row: StorableRow, exhibit: KeyedExhibit, stored: StoredDocument, links: LinkChanges
    ) -> OverlaidRow | None:
        """Return what the row changes; None if that is nothing."""
        text, has_values = self._texts.compare(row, exhibit), self._has_values(row, exhibit)
        if has_values:
            values = ValueChanges({}, stored.columns, stored.properties, list_stated(self._overlay, row, stored))
        else:
            if not row.values:
                raise UnavailableError("An exhibit was changed after the chunk was read; the chunk is read again.")
            row, values = self._compare(row, stored)
        changes = _list_changes(values, exhibit, links, text, has_values=has_values)
        if not changes:
            self._results.unchanged.append((row, exhibit.id))
            return None
        row = self._warn_of_path(row, text, values.columns)
        row_hash = None if _ROW_HASH in changes else exhibit.row_hash
        update = ExhibitUpdate(exhibit.id, values.columns, values.properties, row_hash)
        stated = values.stated | links.stated | ({TEXT_KEY} if text.is_stated and not text.change else frozenset())
        return OverlaidRow(row, exhibit, update, changes, links, Stated(stated, links.whole))

    def _read_texts(self, transaction: Session, exhibit_ids: Sequence[int]) -> ChunkTexts:
        has_texts = EXTRACTED_TEXT in self._input.layout.fields
        current = read_text_hashes(transaction, exhibit_ids) if has_texts else {}
        return ChunkTexts(self._input.layout, self._input.pack, current)

    def _warn_of_path(self, row: StorableRow, text: TextChange, columns: Mapping[str, Any]) -> StorableRow:
        """Return the row with a warning if its text does not count, because the document has the path of a file."""
        is_warned = any(change.code is WarningCode.TEXT_AND_PATH for change in row.changes)
        if text.change is None or text.change.new is None or is_warned or not (columns["text_path"] or "").strip():
            return row
        warning = build_path_warning(self._input.layout.titles.get(EXTRACTED_TEXT))
        return row._replace(changes=[*row.changes, warning])

    def _has_values(self, row: StorableRow, exhibit: KeyedExhibit) -> bool:
        """Return whether the hash alone proves that the row changes no value of the exhibit.

        An earlier hash does not: it covers fewer dates, or texts that are properties of the exhibit.
        """
        return row.row_hash == exhibit.row_hash and self._overlay.is_as_new(row.source.cells or ())

    def _compare(self, row: StorableRow, stored: StoredDocument) -> tuple[StorableRow, ValueChanges]:
        """Return the row, with warnings of properties that do not fit, and the values that it changes."""
        # The key names the document by another of its numbers: it says nothing of the one that its fields have.
        kept = _RANGE if row.source.line_no in self._results.by_number else ()
        values, dropped = compare_values(self._overlay, row, stored, self._limit, kept)
        row = self._add_warnings(row, dropped) if dropped else row
        replaced = find_replaced(values.changes, values.columns)
        return (self._warn_of_replaced(row, replaced, values) if replaced else row), values

    def _warn_of_replaced(
        self, row: StorableRow, replaced: tuple[str | None, str | None], values: ValueChanges
    ) -> StorableRow:
        columns, titles = values.columns, self._input.layout.titles
        message = describe_change(replaced, (columns["bates_begin"], columns["bates_end"]))
        name = next((titles[field] for field in _RANGE if field in titles), None)
        return row._replace(changes=[*row.changes, ValueChange(WarningCode.BATES_CHANGED, name, message, None)])

    def _add_warnings(self, row: StorableRow, dropped: Sequence[PropertyChange]) -> StorableRow:
        originals = dict(zip(self._input.layout.names, row.source.cells or (), strict=False))
        warnings = [
            ValueChange(each.code, each.name, each.message, originals.get(each.name), each.stored_bytes, each.stored)
            for each in dropped
        ]
        return row._replace(changes=[*row.changes, *warnings])


def compare_overlay(transaction: Session, chunk_input: ChunkInput, results: RowResults) -> None:
    """Add the results that an overlay would have; locks and writes nothing. The ids of new exhibits are 0."""
    overlay, targets = ChunkOverlay(chunk_input, results), OverlayTargets(chunk_input, results)
    for part in overlay.decide(transaction, targets.find(transaction, locked=False)):
        for row, exhibit, _, changes, *_ in part.rows:
            results.updated.append((row, exhibit.id))
            results.updates.add(chunk_input.layout, row.source.line_no, exhibit.control_number, changes)
    results.inserted += ((row, 0) for row in targets.new)


def _describe_document(overlaid: OverlaidRow, layout: Layout) -> CorrectedDocument:
    source, exhibit = overlaid.row.source, overlaid.exhibit
    line = find_original_line(source, layout)
    return CorrectedDocument(exhibit.id, exhibit.control_number, exhibit.version, line, source.seen_version)


def _list_changes(
    values: ValueChanges, exhibit: KeyedExhibit, links: LinkChanges, text: TextChange, *, has_values: bool
) -> Changes:
    changes = dict(values.changes)
    if text.change:
        changes[TEXT_KEY] = text.change
    # The hash covers the text: with equal hashes, the exhibit only lacked it.
    if changes and not has_values:
        # Also if it is NULL already: an undo of what made it NULL must see that values were changed since.
        before = exhibit.row_hash.hex() if exhibit.row_hash else None
        changes[_ROW_HASH] = Change(before, None)
    return changes | links.list_changes()
