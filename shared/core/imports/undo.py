"""What undoing an import does to one document, decided from the document's history.

Guaranteed: a value is restored to what the live entries of the history leave, which are those of users and of imports
that are not undone; a value that one of them set or stated after this import stays. Values are never compared to decide
this: after A -> B by the import, B -> A and A -> B by a user, the user's B stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from core.codes import KeptCode
from core.exhibit_history import PAGE_SET, Action, Change, Entry, Key, Kind, Value
from core.imports.history_fold import (
    LINKS,
    IsLive,
    find_first_values,
    fold_all,
    iterate_live,
    list_stated,
    list_stated_links,
)

# Changes with every field, and means nothing to a user.
ROW_HASH = Key(Kind.FIELD, "row_hash")
# Not among the values of a row.
_PAGE_SET = Key(Kind.FIELD, PAGE_SET)


class Kept(NamedTuple):
    """Why a document is kept, or a value or link of it: `key` is None for the whole document.

    `entry` is the change that is the reason, `production` a production that has the document, and `child` the control
    number of an attachment that stays; the others are None. `entry` is without its changes.
    """

    code: KeptCode
    key: Key | None = None
    entry: Entry | None = None
    production: int | None = None
    child: str | None = None


class OtherKind(StrEnum):
    """What another import has to do with a document: values of `import_undo_others.kind`."""

    # It counts, and states a value that therefore stays: no conflict.
    STATES = "states"
    # A row of it found the document unchanged, which the undo has removed or changed.
    UNCHANGED = "unchanged"
    # It changed the restored document later, when it was not recorded what a row states.
    UNRECORDED = "unrecorded"


class Restored(NamedTuple):
    """The values and links that change, what is kept, and what other imports have to do with it.

    `remaining_links` stay although the import has set or stated them: without it, a user or another import has made
    them. `stated_by` are imports that count and state a value which therefore stays. `unrecorded_by` are those that
    changed the document later, when it was not recorded what a row states: they may state what is restored.
    """

    changes: Mapping[Key, Change]
    kept: Sequence[Kept]
    remaining_links: Sequence[Key] = ()
    stated_by: frozenset[int] = frozenset()
    unrecorded_by: frozenset[int] = frozenset()

    @property
    def has_changes(self) -> bool:
        """Whether a value or link changes, and not the row hash alone."""
        return bool(self.changes.keys() - {ROW_HASH})


class _Own(NamedTuple):
    """What the import itself names: the last version in which it does, by key, and the keys that it changes."""

    versions: Mapping[Key, int]
    changed: frozenset[Key]


def list_changed(entries: Iterable[Entry]) -> set[Key]:
    """Return every key that an entry changes."""
    return {key for entry in entries for key in entry.changes}


def restore(entries: Sequence[Entry], import_id: int, live: IsLive, current: Mapping[Key, Value]) -> Restored:
    """Return what undoing the import changes in a document whose history is `entries`.

    `live` says which of them count; those of the import do not. `current` has the stored value of every key that an
    entry changes. What was set after an earlier undo of the import had restored it is not kept because of the import.
    """
    changes: dict[Key, Change] = {}
    kept: list[Kept] = []
    remaining: list[Key] = []
    stated_by: set[int] = set()
    own, restored = _find_own(entries, import_id), _find_restored(entries, import_id)
    for key, (value, last_live) in fold_all(entries, live).items():
        if key not in own.versions or key == ROW_HASH:
            continue
        is_since = last_live is not None and last_live.version > own.versions[key]
        if not is_since and value != current[key]:
            changes[key] = Change(current[key], value)
            continue
        if last_live is not None and is_since and key in own.changed:
            if key in last_live.changes:
                kept += [] if key in restored else [Kept(KeptCode.CHANGED_SINCE, key, _strip(last_live))]
                continue
            stated_by |= {each for each in (last_live.import_id,) if each is not None}
        if value is True:
            remaining.append(key)
    unrecorded = _find_unrecorded(entries, live, max(own.versions.values(), default=0)) if changes else ()
    changes |= _restore_hash(entries, current, changes)
    return Restored(changes, kept, remaining, frozenset(stated_by), frozenset(unrecorded))


def _find_own(entries: Sequence[Entry], import_id: int) -> _Own:
    known = list_changed(entries)
    mine = [entry for entry in entries if entry.import_id == import_id and entry.undo_no is None]
    versions = {key: entry.version for entry in mine for key in (*entry.changes, *list_stated(entry, known))}
    return _Own(versions, frozenset(list_changed(mine)))


def _find_restored(entries: Iterable[Entry], import_id: int) -> set[Key]:
    """Return what earlier undos of the import have restored; the import has changed nothing after them."""
    return {key for entry in entries if entry.import_id == import_id and entry.undo_no for key in entry.changes}


def _find_unrecorded(entries: Iterable[Entry], live: IsLive, version: int) -> Iterator[int]:
    """Yield the imports that count and changed the document after the version, without what their rows state."""
    for entry in entries:
        # An image load file states nothing but pages.
        states_more = entry.stated is None and entry.changes.keys() != {_PAGE_SET}
        if entry.import_id is not None and states_more and entry.version > version and live(entry):
            yield entry.import_id


def _restore_hash(
    entries: Iterable[Entry], current: Mapping[Key, Value], changes: Mapping[Key, Change]
) -> dict[Key, Change]:
    """Return the change of the row hash: it is that of the creating row if all values are those of that row, else None.

    It is not folded: a row that states a value has no hash of the others.
    """
    first = find_first_values(entries)
    if ROW_HASH not in first:
        return {}
    values = {**current, **{key: change.new for key, change in changes.items()}}
    hashed = (key for key in first if key.kind not in LINKS and key not in (ROW_HASH, _PAGE_SET))
    value = first[ROW_HASH] if all(values[key] == first[key] for key in hashed) else None
    return {} if value == current[ROW_HASH] else {ROW_HASH: Change(current[ROW_HASH], value)}


def find_reason_to_stay(entries: Iterable[Entry], live: IsLive) -> Kept | None:
    """Return why a document that the import created stays, as far as its history says; None if it does not."""
    since = [entry for entry in entries if live(entry)]
    if not since:
        return None
    changed = [entry for entry in since if entry.action is not Action.TAGGED]
    return Kept(KeptCode.CHANGED_SINCE if changed else KeptCode.TAGGED_SINCE, None, _strip((changed or since)[-1]))


def _strip(entry: Entry) -> Entry:
    """Return the entry without its changes, of which all that are kept of a part would not fit into memory."""
    return replace(entry, changes={})


def find_link_maker(entries: Sequence[Entry], key: Key, live: IsLive) -> str | None:
    """Return the user who made a link that the live entries leave; None if it was there from the creation on."""
    maker, linked = None, find_first_values(entries).get(key)
    for entry, named, value in iterate_live(entries, live):
        if named == key:
            maker = entry.user_id if value and not linked else maker
            linked = value
    return maker


def drop_properties(restored: Restored, entries: Iterable[Entry], current: Mapping[Key, Value]) -> Restored:
    """Return it without its changes of properties, because the restored ones do not fit the column together.

    `entries` and `current` are those of `restore`: the row hash is that of the values that are left.
    """
    changes = {key: change for key, change in restored.changes.items() if key != ROW_HASH}
    dropped = [key for key in changes if key.kind is Kind.PROPERTY]
    changes = {key: change for key, change in changes.items() if key.kind is not Kind.PROPERTY}
    changes |= _restore_hash(entries, current, changes)
    kept = [*restored.kept, *(Kept(KeptCode.DOES_NOT_FIT, key) for key in dropped)]
    return restored._replace(changes=changes, kept=kept)


def list_link_names(entries: Iterable[Entry]) -> Iterator[Key]:
    """Yield the key of every link that an entry names."""
    for entry in entries:
        yield from (key for key in entry.changes if key.kind in LINKS)
        yield from list_stated_links(entry.stated.keys) if entry.stated else ()
