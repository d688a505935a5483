"""Read the histories of the documents of a part.

Guaranteed: the histories that are held at once take a bounded number of bytes, whatever the number of versions and
however well they are compressed.
Not guaranteed: this for a single document, whose history is always held as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from sqlalchemy.orm import Session

from core.exhibit_history import Entry
from shell.db.sql_literals import execute_literal, format_match
from shell.exhibits.history import iterate_histories

# As they are stored, and as they are decompressed.
STORED_BYTES, HELD_CHARACTERS = 2_000_000, 4_000_000


def read_histories(reading: Session, exhibit_ids: Sequence[int]) -> Iterator[dict[int, list[Entry]]]:
    """Yield the histories of all exhibits, each time of as many as are held at once."""
    held: dict[int, list[Entry]] = {}
    size = 0
    for exhibit_id, entries in _read_each(reading, exhibit_ids):
        more = sum(map(_measure, entries))
        if held and size + more > HELD_CHARACTERS:
            yield held
            held, size = {}, 0
        held[exhibit_id] = entries
        size += more
    if held:
        yield held


def _read_each(reading: Session, exhibit_ids: Sequence[int]) -> Iterator[tuple[int, list[Entry]]]:
    for part in _slice_by_stored_bytes(reading, exhibit_ids):
        yield from iterate_histories(reading, part)


def _slice_by_stored_bytes(reading: Session, exhibit_ids: Sequence[int]) -> Iterator[list[int]]:
    sizes = _find_stored_bytes(reading, exhibit_ids)
    part: list[int] = []
    size = 0
    for exhibit_id in exhibit_ids:
        more = sizes.get(exhibit_id, 0)
        if part and size + more > STORED_BYTES:
            yield part
            part, size = [], 0
        part.append(exhibit_id)
        size += more
    if part:
        yield part


def _find_stored_bytes(reading: Session, exhibit_ids: Sequence[int]) -> dict[int, int]:
    if not exhibit_ids:
        return {}
    statement = (
        "SELECT exhibit_id, SUM(LENGTH(changes)) FROM exhibit_changes "  # noqa: S608 - literals
        f"WHERE {format_match('exhibit_id', exhibit_ids)} GROUP BY exhibit_id"
    )
    found: Any = execute_literal(reading.connection(), statement, "SELECT exhibit_changes")
    return {int(exhibit_id): int(size) for exhibit_id, size in found}


def _measure(entry: Entry) -> int:
    """Return the characters of the values of an entry."""
    return sum(len(value) for value in chain.from_iterable(entry.changes.values()) if isinstance(value, str))
