"""Decide what the rows of a chunk change in the exhibits of their case.

Guaranteed: a decision is made from the values that are stored when it is made; for a write they are read under locks,
for a check without. Reading is bounded: the exhibits of a chunk can take 64 KB each.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from core.bates_numbers import describe_shared_number
from core.codes import Rejection, WarningCode
from core.errors import ConflictError, UnavailableError
from core.exhibit_history import Change, Changes, Key, Kind, Stated
from core.imports.overlay import RowOverlay
from core.load_file.rows import RowError, ValueChange
from core.load_mode import OverlayKey
from core.texts.cells import EXTRACTED_TEXT
from shell.db.column_limits import column_limits
from shell.exhibits.texts import read_text_hashes
from shell.exhibits.updates import (
    ExhibitUpdate,
    KeyedExhibit,
    StoredDocument,
    find_by_key,
    list_links,
    lock_exhibits,
    read_stored_documents,
    slice_exhibits,
)
from shell.imports.chunks.chunk_input import ChunkInput
from shell.imports.chunks.coercion import StorableRow, build_path_warning
from shell.imports.chunks.comparison import CHANGED_MEANWHILE
from shell.imports.chunks.conflicts import REMOVED_MEANWHILE
from shell.imports.chunks.overlay_texts import TEXT_KEY, ChunkTexts, TextChange
from shell.imports.chunks.overlay_values import ValueChanges, compare_values, list_stated
from shell.imports.chunks.results import RowResults
from shell.tables.name_kinds import NAME_KINDS, NameKind
from shell.utils.document_properties import PropertyChange

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
        self._key = chunk_input.layout.load_mode.overlay_key
        self._overlay = RowOverlay(chunk_input.layout)
        self._limit = column_limits("exhibits")["document_properties"]
        self._texts = ChunkTexts(chunk_input.layout, chunk_input.pack, {})
        self.new: list[StorableRow] = []

    def find_targets(self, transaction: Session, *, locked: bool) -> list[tuple[StorableRow, KeyedExhibit]]:
        """Return the rows that have one exhibit, with it, in the order of the file; the others are rejected or `new`.

        Raises ConflictError if an exhibit gets another key before it is locked, UnavailableError if it is removed.
        """
        held = self._list_held() if locked else {}
        keys = {str(row.control_number) for row in self._input.valid}
        found = find_by_key(transaction, self._input.import_record.case_id, self._key, keys - held.keys())
        targets: list[tuple[StorableRow, int]] = []
        for row in self._input.valid:
            key = str(row.control_number)
            exhibits = found.get(key, [])
            if key in held or len(exhibits) == 1:
                targets.append((row, held[key] if key in held else exhibits[0].id))
            elif not exhibits and self._input.layout.load_mode.creates:
                self.new.append(row)
            else:
                self._results.rejected.append((row, [self._describe(row, exhibits)]))
        current = {each.id: each for exhibits in found.values() for each in exhibits}
        if locked:
            current = self._lock(transaction, targets)
        # Reports name a document by its control number, whatever the key is.
        return [(row._replace(control_number=current[i].control_number), current[i]) for row, i in targets]

    def _list_held(self) -> dict[str, int]:
        """Return the ids of exhibits that were found before the transaction, by a key that one exhibit can have."""
        if self._key is not OverlayKey.CONTROL_NUMBER:
            return {}
        return {number: stored.id for number, stored in self._input.held.items()}

    def _lock(self, transaction: Session, targets: Sequence[tuple[StorableRow, int]]) -> dict[int, KeyedExhibit]:
        current = lock_exhibits(transaction, [exhibit_id for _, exhibit_id in targets])
        for row, exhibit_id in targets:
            now = current.get(exhibit_id)
            if now is None:
                # Every attempt has the ids that were found before the transaction.
                raise UnavailableError(REMOVED_MEANWHILE)
            if getattr(now, self._key.value) != row.control_number:
                raise ConflictError(CHANGED_MEANWHILE)
        return current

    def _describe(self, row: StorableRow, exhibits: Sequence[KeyedExhibit]) -> RowError:
        titles = self._input.layout.titles
        column = titles.get(self._key.value) or titles.get("bates_begin")
        if exhibits:
            message = describe_shared_number([exhibit.control_number for exhibit in exhibits], len(exhibits))
            return RowError(Rejection.AMBIGUOUS_KEY, column, f"{message} Overlay them by control number.")
        message = "The case has no document with this"
        name = "begin Bates number" if self._key is OverlayKey.BATES_BEGIN else "id"
        advice = "Correct it, or use append_overlay" if self._key is OverlayKey.CONTROL_NUMBER else "Correct it"
        return RowError(Rejection.NOT_IN_CASE, column, f"{message} {name}. {advice}.")

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
            yield [overlaid for overlaid in decided if overlaid]

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
        values, dropped = compare_values(self._overlay, row, stored, self._limit)
        return (self._add_warnings(row, dropped) if dropped else row), values

    def _add_warnings(self, row: StorableRow, dropped: Sequence[PropertyChange]) -> StorableRow:
        originals = dict(zip(self._input.layout.names, row.source.cells or (), strict=False))
        warnings = [
            ValueChange(each.code, each.name, each.message, originals.get(each.name), each.stored_bytes)
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
    overlay = ChunkOverlay(chunk_input, results)
    for part in overlay.decide(transaction, overlay.find_targets(transaction, locked=False)):
        for row, exhibit, _, changes, *_ in part:
            results.updated.append((row, exhibit.id))
            results.updates.add(chunk_input.layout, row.source.line_no, exhibit.control_number, changes)
    results.inserted += ((row, 0) for row in overlay.new)


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
