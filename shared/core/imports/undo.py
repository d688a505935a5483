"""What undoing an import does to one document, decided from the document's history.

Guaranteed: a value is restored to what the live entries of the history leave, which are those of users and of imports
that are not undone; a value that one of them set after this import is kept. Values are never compared to decide this:
after A -> B by the import, B -> A and A -> B by a user, the user's B stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from core.codes import KeptCode
from core.exhibit_history import Action, Change, Entry, IsLive, Key, Kind, Value, fold_all

# Changes with every field, and means nothing to a user.
_ROW_HASH = Key(Kind.FIELD, "row_hash")


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


class Restored(NamedTuple):
    """The values and links that change, what is kept, and the links that stay although the import has set them.

    Without the import, a user or another import has made those links.
    """

    changes: Mapping[Key, Change]
    kept: Sequence[Kept]
    remaining_links: Sequence[Key] = ()


def find_last_versions(entries: Iterable[Entry], import_id: int) -> dict[Key, int]:
    """Return the last version in which the import itself changed each key that it changed."""
    return {
        key: entry.version
        for entry in entries
        if entry.import_id == import_id and entry.undo_no is None
        for key in entry.changes
    }


def restore(entries: Sequence[Entry], import_id: int, live: IsLive, current: Mapping[Key, Value]) -> Restored:
    """Return what undoing the import changes in a document whose history is `entries`.

    `live` says which of them count; those of the import do not. `current` has the stored value of every key that the
    import changed. What was set after an earlier undo of the import had restored it is not kept because of the import.
    """
    changes: dict[Key, Change] = {}
    kept: list[Kept] = []
    remaining: list[Key] = []
    folded, restored = fold_all(entries, live), _find_restored(entries, import_id)
    for key, version in find_last_versions(entries, import_id).items():
        value, last_live = folded[key]
        if last_live is not None and last_live.version > version:
            if key != _ROW_HASH and key not in restored:
                kept.append(Kept(KeptCode.CHANGED_SINCE, key, _strip(last_live)))
        elif value != current[key]:
            changes[key] = Change(current[key], value)
        elif value is True:
            remaining.append(key)
    return Restored(changes, kept, remaining)


def _find_restored(entries: Iterable[Entry], import_id: int) -> set[Key]:
    """Return what earlier undos of the import have restored; the import has changed nothing after them."""
    return {key for entry in entries if entry.import_id == import_id and entry.undo_no for key in entry.changes}


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


def find_link_maker(entries: Iterable[Entry], key: Key, live: IsLive) -> str | None:
    """Return the user who made a link that the live entries leave; None if it was there from the creation on."""
    maker: str | None = None
    linked: Value = None
    for entry in entries:
        change = entry.changes.get(key)
        if change is None:
            continue
        if linked is None:
            linked = change.old
        if live(entry):
            if change.new and not linked:
                maker = entry.user_id
            linked = change.new
    return maker


def drop_properties(restored: Restored) -> Restored:
    """Return it without its changes of properties, because the restored ones do not fit the column together."""
    dropped = [key for key in restored.changes if key.kind is Kind.PROPERTY]
    changes = {
        key: change for key, change in restored.changes.items() if key.kind is not Kind.PROPERTY and key != _ROW_HASH
    }
    kept = [*restored.kept, *(Kept(KeptCode.DOES_NOT_FIT, key) for key in dropped)]
    return Restored(changes, kept, restored.remaining_links)


def list_link_names(entries: Iterable[Entry]) -> Iterator[Key]:
    """Yield the key of every link that an entry names."""
    for entry in entries:
        yield from (key for key in entry.changes if key.kind in (Kind.CUSTODIAN, Kind.TAG))
