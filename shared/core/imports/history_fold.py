"""The value that some entries of an exhibit's history leave, as if the others had never been written.

Guaranteed: an entry that states a value counts like one that sets it, though the value was there already. Values are
never compared: after A -> B by an import, B -> A and A -> B by a user, the user's B stays when the import is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from core.exhibit_history import Entry, Key, Kind, Stated, Value

LINKS = (Kind.CUSTODIAN, Kind.TAG)
IsLive = Callable[[Entry], bool]


class Folded(NamedTuple):
    """The value of a key after its live entries, and the last of these; None if it has none."""

    value: Value
    last_live: Entry | None


def is_live(entry: Entry, undone_imports: Container[int]) -> bool:
    """Return whether the entry counts: it is not an undo, nor of an import that is being undone or was undone."""
    return entry.undo_no is None and (entry.import_id is None or entry.import_id not in undone_imports)


def find_first_values(entries: Iterable[Entry]) -> dict[Key, Value]:
    """Return the value that each key had before the first entry that changes it; the others never had another one."""
    found: dict[Key, Value] = {}
    for entry in entries:
        for key, change in entry.changes.items():
            found.setdefault(key, change.old)
    return found


def list_stated(entry: Entry, known: Collection[Key]) -> Iterator[Key]:
    """Yield those of the known keys that the entry states without changing them."""
    if entry.stated is not None:
        keys, whole = entry.stated
        yield from (key for key in known if (key in keys or key.kind in whole) and key not in entry.changes)


def iterate_live(entries: Sequence[Entry], live: IsLive) -> Iterator[tuple[Entry, Key, Value]]:
    """Yield each key that a live entry names, with the value that the entry sets or states.

    The value stated is the one that the exhibit had: that of the last entry before, live or not, that changes the key.
    """
    values = find_first_values(entries)
    for entry in entries:
        values.update((key, change.new) for key, change in entry.changes.items())
        if live(entry):
            yield from ((entry, key, change.new) for key, change in entry.changes.items())
            yield from ((entry, key, values[key]) for key in list_stated(entry, values.keys()))


def fold_all(entries: Sequence[Entry], live: IsLive) -> dict[Key, Folded]:
    """Return the value of every key that an entry changes: the one that the last live entry sets or states.

    A key without a live entry has the `old` of its first one. `entries` are all those of one exhibit, in the order of
    their versions.
    """
    found = {key: Folded(value, None) for key, value in find_first_values(entries).items()}
    for entry, key, value in iterate_live(entries, live):
        found[key] = Folded(value, entry)
    return found


def rename(entries: Iterable[Entry], stored_name: Callable[[Key], str]) -> Iterator[Entry]:
    """Yield the entries with the name that `stored_name` returns for each custodian and tag.

    Names are stored as they were spelled at the time, and an import's spelling can change later.
    """

    def find(key: Key) -> Key:
        return Key(key.kind, stored_name(key)) if key.kind in LINKS else key

    for entry in entries:
        stated = entry.stated and _rename_stated(entry.stated, find)
        yield replace(entry, changes={find(key): change for key, change in entry.changes.items()}, stated=stated)


def _rename_stated(stated: Stated, find: Callable[[Key], Key]) -> Stated:
    """Return the same object if no name differs: a copy for each entry would take more memory than its changes."""
    links = list_stated_links(stated.keys)
    renamed = frozenset(map(find, links))
    return stated if renamed == links else Stated(stated.keys - links | renamed, stated.whole)


@lru_cache(maxsize=256)
def list_stated_links(keys: frozenset[Key]) -> frozenset[Key]:
    """Return those of the keys that are of links."""
    return frozenset(key for key in keys if key.kind in LINKS)
