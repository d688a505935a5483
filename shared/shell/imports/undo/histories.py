"""Read the histories of the documents of a part.

Guaranteed: the histories that are held at once take a bounded number of bytes, whatever the number of versions and
however well they are compressed.
Not guaranteed: this for a single document, whose history is always held as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from sys import getsizeof

from sqlalchemy.orm import Session

from core.exhibit_history import Entry
from core.slices import slice_by_size
from shell.exhibits.history import iterate_histories
from shell.imports.undo.store import find_history_bytes

# As they are stored, and as they are decompressed.
STORED_BYTES, HELD_BYTES = 2_000_000, 4_000_000


def read_histories(reading: Session, exhibit_ids: Sequence[int]) -> Iterator[dict[int, list[Entry]]]:
    """Yield the histories of all exhibits, each time of as many as are held at once."""
    held: dict[int, list[Entry]] = {}
    size, measured = 0, set[int]()
    for exhibit_id, entries in _read_each(reading, exhibit_ids):
        more = _measure(entries, measured)
        if held and size + more > HELD_BYTES:
            yield held
            held, size, measured = {}, 0, set()
            more = _measure(entries, measured)
        held[exhibit_id] = entries
        size += more
    if held:
        yield held


def _read_each(reading: Session, exhibit_ids: Sequence[int]) -> Iterator[tuple[int, list[Entry]]]:
    for part in _slice_by_stored_bytes(reading, exhibit_ids):
        yield from iterate_histories(reading, part)


def _slice_by_stored_bytes(reading: Session, exhibit_ids: Sequence[int]) -> Iterator[list[int]]:
    sizes = find_history_bytes(reading, exhibit_ids)
    return slice_by_size(exhibit_ids, lambda exhibit_id: sizes.get(exhibit_id, 0), STORED_BYTES)


def _measure(entries: Sequence[Entry], measured: set[int]) -> int:
    """Return about how many bytes the values of entries take, and what they state; add the `id` of the latter.

    Entries that state the same have one object, which is `measured` once.
    """
    size = 0
    for entry in entries:
        size += sum(len(value) for value in chain.from_iterable(entry.changes.values()) if isinstance(value, str))
        if entry.stated is not None and id(entry.stated) not in measured:
            measured.add(id(entry.stated))
            size += getsizeof(entry.stated.keys) + sum(len(key.name) for key in entry.stated.keys)
    return size
