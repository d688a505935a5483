"""Restore the values and links of documents that an import overlaid.

Guaranteed: what is restored is decided under the documents' locks; each changed document gets one version more and one
row of history, in the same transaction. Memory is bounded: documents are handled in slices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import KeptCode
from core.exhibit_history import ABSENT, PAGE_SET, TEXT_ID, Action, Entry, Key, Kind, Value, restore_columns
from core.imports.history_fold import LINKS, rename
from core.imports.undo import (
    ROW_HASH,
    Kept,
    OtherKind,
    Restored,
    drop_properties,
    find_link_maker,
    list_changed,
    restore,
)
from core.slices import slice_by_size
from shell.db.column_limits import column_limits
from shell.exhibits.history import Author, NewEntry, write_entries
from shell.exhibits.links import insert_links
from shell.exhibits.texts import set_text_ids
from shell.exhibits.updates import (
    SLICE_BYTES,
    ExhibitUpdate,
    KeyedExhibit,
    StoredDocument,
    delete_links,
    list_links,
    read_stored_documents,
    slice_exhibits,
    update_exhibits,
    update_link_makers,
)
from shell.imports.undo.context import PartResult, UndoContext
from shell.imports.undo.histories import read_histories
from shell.imports.undo.names import KINDS, FoundNames, add_names, find_names
from shell.imports.undo.pages import delete_unused_pages, restore_page_sets
from shell.tables.name_kinds import NameKind
from shell.utils.document_properties import TEXT_COLUMN_BYTES, serialize_properties

_PAGE_SET, _TEXT = Key(Kind.FIELD, PAGE_SET), Key(Kind.FIELD, TEXT_ID)
_CREATORS = text(
    "SELECT e.id, i.user_id FROM JSON_TABLE(:ids, '$[*]' COLUMNS (id BIGINT PATH '$')) AS restored "
    "STRAIGHT_JOIN exhibits AS e ON e.id = restored.id JOIN imports AS i ON i.id = e.import_id"
)


class _Document(NamedTuple):
    """An exhibit, the line that overlaid it, its stored values, its history, and what is restored."""

    exhibit: KeyedExhibit
    line_no: int
    stored: StoredDocument
    entries: Sequence[Entry]
    restored: Restored


@dataclass
class _LinkWrites:
    """The links that are made again, by the user who had made them, and those that are deleted."""

    added: dict[tuple[NameKind, str], list[tuple[int, int]]] = field(default_factory=dict)
    removed: dict[NameKind, list[tuple[int, int]]] = field(default_factory=dict)


def restore_documents(
    transaction: Session,
    context: UndoContext,
    overlaid: Sequence[KeyedExhibit],
    lines: Mapping[int, int],
    result: PartResult,
) -> None:
    """Restore what the import changed in documents that the caller has locked; `lines` are by id."""
    for part in slice_exhibits(overlaid):
        for histories in read_histories(transaction, [each.id for each in part]):
            some = [each for each in part if each.id in histories]
            _restore_slice(transaction, context, some, histories, lines, result)


def _restore_slice(
    transaction: Session,
    context: UndoContext,
    exhibits: Sequence[KeyedExhibit],
    histories: Mapping[int, Sequence[Entry]],
    lines: Mapping[int, int],
    result: PartResult,
) -> None:
    ids = [each.id for each in exhibits]
    stored = read_stored_documents(transaction, ids)
    names = find_names(transaction, context, chain.from_iterable(histories.values()))
    links = {
        kind: list_links(transaction, KINDS[kind], ids) if any(key.kind == kind for key in names) else {}
        for kind in LINKS
    }
    documents = []
    for each in exhibits:
        entries = list(rename(histories[each.id], lambda key: names[key].name if key in names else key.name))
        linked = {Key(kind, name) for kind in LINKS for name in links[kind].get(each.id, {}).values()}
        restored = _decide(context, each, stored[each.id], entries, linked)
        documents.append(_Document(each, lines[each.id], stored[each.id], entries, restored))
    by_name = {Key(key.kind, row.name): row for key, row in names.items()}
    for document in documents:
        _note(document, result)
    _name_makers(transaction, context, [each for each in documents if each.restored.remaining_links], by_name)
    changed = [document for document in documents if document.restored.changes]
    for part in slice_by_size(changed, _measure_changes, SLICE_BYTES):
        _write(transaction, context, part, by_name, result)
    delete_unused_pages(transaction, context.import_record.id, {each.exhibit.id: each.entries for each in documents})


def _note(document: _Document, result: PartResult) -> None:
    """Add what is kept of a document, and the other imports that have to do with it."""
    restored = document.restored
    result.keep(document.exhibit, document.line_no, restored.kept)
    result.others.update((OtherKind.STATES, each) for each in restored.stated_by)
    result.others.update((OtherKind.UNRECORDED, each) for each in restored.unrecorded_by)


def _measure_changes(document: _Document) -> int:
    """Return about how many bytes the changes take when they are written."""
    values = chain.from_iterable(document.restored.changes.values())
    return sum(len(value) for value in values if isinstance(value, str)) + document.exhibit.size


def _decide(
    context: UndoContext, exhibit: KeyedExhibit, stored: StoredDocument, entries: Sequence[Entry], linked: set[Key]
) -> Restored:
    if exhibit.version != 1 + len(entries):
        # A writer left no entry: what it changed cannot be known, and would be lost.
        return Restored({}, [Kept(KeptCode.CHANGED_SINCE)])
    import_id = context.import_record.id
    current = {key: _read_value(key, exhibit, stored, linked) for key in list_changed(entries)}
    restored = restore(entries, import_id, context.is_live, current)
    room = column_limits("exhibits")["document_properties"].bytes or TEXT_COLUMN_BYTES
    properties = _restore_properties(stored, restored)
    if properties and len(properties.encode()) > room:
        return drop_properties(restored, entries, current)
    return restored


def _read_value(key: Key, exhibit: KeyedExhibit, stored: StoredDocument, linked: set[Key]) -> Value:
    """Return the stored value of a key."""
    if key == ROW_HASH:
        return exhibit.row_hash.hex() if exhibit.row_hash else None
    if key == _PAGE_SET:
        return None if exhibit.page_set_id is None else str(exhibit.page_set_id)
    if key == _TEXT:
        return None if exhibit.text_id is None else str(exhibit.text_id)
    if key.kind is Kind.FIELD:
        return stored.document.fields[key.name]
    if key.kind is Kind.PROPERTY:
        return stored.document.properties.get(key.name, ABSENT)
    return key in linked


def _restore_properties(stored: StoredDocument, restored: Restored) -> str | None:
    """Return the stored form of the properties after the undo."""
    changed = {key.name: change.new for key, change in restored.changes.items() if key.kind is Kind.PROPERTY}
    if not changed:
        return stored.properties
    merged: dict[str, str | None] = {
        name: value for name, value in stored.document.properties.items() if changed.get(name) is not ABSENT
    }
    merged |= {name: value for name, value in changed.items() if value is None or isinstance(value, str)}
    if merged.keys() - stored.document.properties.keys():
        merged = stored.order(merged)
    return serialize_properties(merged) if merged else None


def _write(
    transaction: Session,
    context: UndoContext,
    changed: Sequence[_Document],
    names: FoundNames,
    result: PartResult,
) -> None:
    update_exhibits(transaction, list(map(_build_update, changed)))
    restore_page_sets(transaction, dict(_list_restored(changed, _PAGE_SET)))
    set_text_ids(transaction, dict(_list_restored(changed, _TEXT)))
    author = Author(Action.UNDONE, context.undo.user_id, context.import_record.id, context.undo.undo_no)
    entries = [NewEntry(each.exhibit.id, each.exhibit.version + 1, each.restored.changes) for each in changed]
    write_entries(transaction, author, entries)
    result.links_restored += _write_links(transaction, context, changed, names)
    result.restored += [each.exhibit.id for each in changed if each.restored.has_changes]


def _build_update(document: _Document) -> ExhibitUpdate:
    changes = document.restored.changes
    fields: dict[str, str | None] = {
        key.name: change.new
        for key, change in changes.items()
        if key.kind is Kind.FIELD
        and key not in (ROW_HASH, _PAGE_SET, _TEXT)
        and (change.new is None or isinstance(change.new, str))
    }
    stored = document.stored.columns
    columns = {**stored, **restore_columns(fields, stored["date_precision"])}
    properties = _restore_properties(document.stored, document.restored)
    row_hash = document.exhibit.row_hash
    if ROW_HASH in changes:
        restored = changes[ROW_HASH].new
        row_hash = bytes.fromhex(restored) if isinstance(restored, str) else None
    return ExhibitUpdate(document.exhibit.id, columns, properties, row_hash)


def _list_restored(changed: Iterable[_Document], key: Key) -> Iterator[tuple[int, int | None]]:
    """Yield the exhibits that get other pages or another text, with the id of these, None for none."""
    for each in changed:
        if key in each.restored.changes:
            restored = each.restored.changes[key].new
            yield each.exhibit.id, int(restored) if isinstance(restored, str) else None


def _write_links(transaction: Session, context: UndoContext, documents: Sequence[_Document], names: FoundNames) -> int:
    """Make links again and delete others; return how many were made again."""
    again = {
        key: each.line_no
        for each in documents
        for key, change in each.restored.changes.items()
        if key.kind in LINKS and change.new
    }
    missing = {key: line_no for key, line_no in again.items() if key not in names}
    if missing:
        names = {**names, **add_names(transaction, context, missing)}
    makers = _find_creators(transaction, [each.exhibit.id for each in documents]) if again else {}
    writes = _collect_links(context, documents, names, makers)
    for (kind, user_id), pairs in writes.added.items():
        insert_links(transaction, kind, pairs, user_id)
    for kind, pairs in writes.removed.items():
        delete_links(transaction, kind, pairs)
    return sum(map(len, writes.added.values()))


def _collect_links(
    context: UndoContext, documents: Sequence[_Document], names: FoundNames, makers: Mapping[int, str]
) -> _LinkWrites:
    writes = _LinkWrites()
    for each in documents:
        for key, change in each.restored.changes.items():
            if key.kind not in LINKS:
                continue
            kind, pair = KINDS[key.kind.value], (each.exhibit.id, names[key].id)
            if change.new:
                maker = find_link_maker(each.entries, key, context.is_live) or makers[each.exhibit.id]
                writes.added.setdefault((kind, maker), []).append(pair)
            else:
                writes.removed.setdefault(kind, []).append(pair)
    return writes


def _name_makers(transaction: Session, context: UndoContext, documents: Sequence[_Document], names: FoundNames) -> None:
    """Give links that stay without the import the users who made them then; no value changes, and no version."""
    if not documents:
        return
    creators = _find_creators(transaction, [each.exhibit.id for each in documents])
    makers: dict[NameKind, list[tuple[int, int, str]]] = {}
    for each in documents:
        for key in each.restored.remaining_links:
            maker = find_link_maker(each.entries, key, context.is_live) or creators[each.exhibit.id]
            makers.setdefault(KINDS[key.kind.value], []).append((each.exhibit.id, names[key].id, maker))
    for kind, links in makers.items():
        update_link_makers(transaction, kind, links)


def _find_creators(transaction: Session, ids: Sequence[int]) -> dict[int, str]:
    """Return the user of the import that created each document."""
    rows = transaction.execute(_CREATORS, {"ids": json.dumps(ids)}).all()
    return {row.id: row.user_id for row in rows}
