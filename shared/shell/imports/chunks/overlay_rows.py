"""Decide what the rows of a chunk change in the exhibits of their case.

Guaranteed: a decision is made from the values that are stored when it is made; for a write they are read under locks,
for a check without. Reading is bounded: the exhibits of a chunk can take 64 KB each.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from core.bates_numbers import describe_change
from core.codes import WarningCode
from core.errors import ConflictError, UnavailableError
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
    list_links,
    read_stored_documents,
    slice_exhibits,
)
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.comparison import CHANGED_MEANWHILE
from shell.imports.chunks.number_claims import BATES_KEYS, find_replaced
from shell.imports.chunks.overlay_targets import OverlayTargets
from shell.imports.chunks.overlay_texts import TEXT_KEY, ChunkTexts, TextChange
from shell.imports.chunks.overlay_values import ValueChanges, compare_values, list_stated
from shell.imports.chunks.results import RowResults
from shell.imports.corrections.changed_since import CorrectedDocument, find_changed
from shell.imports.rows.coercion import StorableRow, build_path_warning
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.document_properties import PropertyChange

_RANGE = tuple(key.name for key in BATES_KEYS)
_ROW_HASH = Key(Kind.FIELD, "row_hash")


class _LinkChanges(NamedTuple):
    """The links of one exhibit that change: the names' kinds, ids and names as stored; and those that the row states.

    Where the names of a row replace others, it states the kind as a whole.
    """

    added: Sequence[tuple[NameKind, int, str]] = ()
    removed: Sequence[tuple[NameKind, int, str]] = ()
    stated: frozenset[Key] = frozenset()
    whole: frozenset[Kind] = frozenset()


class OverlaidRow(NamedTuple):
    """A row that changes its exhibit; `update` has all values of the exhibit, also if only links change."""

    row: StorableRow
    exhibit: KeyedExhibit
    update: ExhibitUpdate
    changes: Changes
    links: _LinkChanges
    stated: Stated


class ChunkOverlay:
    """The overlay of one attempt at one chunk; adds its rejected and unchanged rows to `results`."""

    def __init__(self, chunk_input: ChunkInput, results: RowResults) -> None:
        self._input, self._results = chunk_input, results
        self._overlay = RowOverlay(chunk_input.layout)
        self._limit = column_limits("exhibits")["document_properties"]
        self._texts = ChunkTexts(chunk_input.layout, chunk_input.pack, {})

    def decide(
        self, transaction: Session, targets: Sequence[tuple[StorableRow, KeyedExhibit]]
    ) -> Iterator[list[OverlaidRow]]:
        """Yield the rows that change their exhibits, a bounded slice at a time; the others are `unchanged`.

        Raises UnavailableError, so that the chunk is read again, if its rows were read without values because all of
        them had the hashes of their exhibits, and one has not any more.
        """
        links = self._find_link_changes(transaction, targets)
        self._texts = self._read_texts(transaction, [exhibit.id for _, exhibit in targets])
        rows = {exhibit.id: row for row, exhibit in targets}
        for part in slice_exhibits([exhibit for _, exhibit in targets]):
            ids = [
                each.id
                for each in part
                if _changes_links(links.get(each.id))
                or not self._has_values(rows[each.id], each)
                or self._texts.compare(rows[each.id], each).change
            ]
            stored = read_stored_documents(transaction, ids)
            decided = (
                self._decide(rows[each.id], each, stored.get(each.id), links.get(each.id, _LinkChanges()))
                for each in part
            )
            yield self._leave_out_changed(transaction, [overlaid for overlaid in decided if overlaid])

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
        self, row: StorableRow, exhibit: KeyedExhibit, stored: StoredDocument | None, links: _LinkChanges
    ) -> OverlaidRow | None:
        """Return what the row changes; None if that is nothing. `stored` is only needed if it may be something."""
        if stored is None:
            self._results.unchanged.append((row, exhibit.id))
            return None
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

    def _find_link_changes(
        self, transaction: Session, targets: Sequence[tuple[StorableRow, KeyedExhibit]]
    ) -> dict[int, _LinkChanges]:
        found: dict[int, _LinkChanges] = {}
        for kind in NAME_KINDS:
            required = {exhibit.id: self._find_names(kind, row) for row, exhibit in targets if self._touches(kind, row)}
            linked = list_links(transaction, kind, list(required))
            for exhibit_id, names in required.items():
                there = linked.get(exhibit_id, {})
                added = [(kind, name_id, name) for name_id, name in names.items() if name_id not in there]
                gone = {} if not self._overlay.replaces_names else there
                removed = [(kind, name_id, name) for name_id, name in gone.items() if name_id not in names]
                stated, whole = self._state(kind, names.values(), {name for _, _, name in added})
                before = found.get(exhibit_id, _LinkChanges())
                changed = ([*before.added, *added], [*before.removed, *removed])
                found[exhibit_id] = _LinkChanges(*changed, before.stated | stated, before.whole | whole)
        return found

    def _state(
        self, kind: NameKind, names: Iterable[str], added: Container[str]
    ) -> tuple[frozenset[Key], frozenset[Kind]]:
        """Return the links that a row states, without those that it adds, or the kind as a whole."""
        if self._overlay.replaces_names:
            return frozenset(), frozenset([Kind(kind.table)])
        return frozenset(Key(Kind(kind.table), name) for name in names if name not in added), frozenset()

    def _touches(self, kind: NameKind, row: StorableRow) -> bool:
        """Return whether the row can change links: it has names, or blanks clear what the file has a column for."""
        clears = self._overlay.clears and self._overlay.replaces_names
        return bool(row.get_names(kind)) or (clears and kind.table in self._input.layout.fields)

    def _find_names(self, kind: NameKind, row: StorableRow) -> dict[int, str]:
        """Return the row's names as stored, by id."""
        found = self._input.found_names[kind.model]
        try:
            rows = [found[name.name] for name in row.get_names(kind)]
        except KeyError as error:
            raise ConflictError(CHANGED_MEANWHILE) from error
        return {each.id: each.name for each in rows}


def compare_overlay(transaction: Session, chunk_input: ChunkInput, results: RowResults) -> None:
    """Add the results that an overlay would have; locks and writes nothing. The ids of new exhibits are 0."""
    overlay, targets = ChunkOverlay(chunk_input, results), OverlayTargets(chunk_input, results)
    for part in overlay.decide(transaction, targets.find(transaction, locked=False)):
        for row, exhibit, _, changes, *_ in part:
            results.updated.append((row, exhibit.id))
            results.updates.add(chunk_input.layout, row.source.line_no, exhibit.control_number, changes)
    results.inserted += ((row, 0) for row in targets.new)


def _describe_document(overlaid: OverlaidRow, layout: Layout) -> CorrectedDocument:
    source, exhibit = overlaid.row.source, overlaid.exhibit
    line = find_original_line(source, layout)
    return CorrectedDocument(exhibit.id, exhibit.control_number, exhibit.version, line, source.seen_version)


def _changes_links(links: _LinkChanges | None) -> bool:
    return links is not None and bool(links.added or links.removed)


def _list_changes(
    values: ValueChanges, exhibit: KeyedExhibit, links: _LinkChanges, text: TextChange, *, has_values: bool
) -> Changes:
    changes = dict(values.changes)
    if text.change:
        changes[TEXT_KEY] = text.change
    # The hash covers the text: with equal hashes, the exhibit only lacked it.
    if changes and not has_values:
        # Also if it is NULL already: an undo of what made it NULL must see that values were changed since.
        before = exhibit.row_hash.hex() if exhibit.row_hash else None
        changes[_ROW_HASH] = Change(before, None)
    changes |= {Key(Kind(kind.table), name): Change(False, True) for kind, _, name in links.added}
    changes |= {Key(Kind(kind.table), name): Change(True, False) for kind, _, name in links.removed}
    return changes
