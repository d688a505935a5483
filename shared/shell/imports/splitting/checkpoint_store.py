"""Checkpoints of a split in the database.

Guaranteed: a checkpoint is one transaction, which holds the lock on the import's row and commits only if the import is
still being split, in the same generation, and no other worker has written a checkpoint since the one that this worker
read or wrote last. Chunks of two workers therefore never mix. Every checkpoint has a random name, by which a lost
COMMIT is found.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.errors import ImportBusyError
from shell.db.bulk_insert import insert_missing
from shell.db.session import session
from shell.imports.splitting.registration import RETRY_AFTER_S, insert_chunks
from shell.tables.chunks import ImportSplits
from shell.tables.imports import Imports
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict

if TYPE_CHECKING:
    from core.load_file.split_state import Chunk

ROWS_PER_DELETE = 10_000

# The condition is what keeps two workers that split one file apart.
_ADVANCE = text(
    "UPDATE imports SET split_checkpoint = :name WHERE id = :import_id AND status = 'splitting' "
    "AND generation = :generation AND split_checkpoint <=> :checkpoint"
)
_WRITE = text(
    "INSERT INTO import_splits (import_id, fingerprint, bytes_read, partition_no, state) "
    "VALUES (:import_id, :fingerprint, :bytes_read, :partition, :state) ON DUPLICATE KEY UPDATE "
    "fingerprint = :fingerprint, bytes_read = :bytes_read, partition_no = :partition, repeats_stored = 0, "
    "state = :state"
)
_WRITE_PARTITION = text(
    "UPDATE import_splits SET partition_no = :partition, repeats_stored = :repeats WHERE import_id = :import_id"
)
_READ_PROGRESS = text(
    "SELECT bytes_read, COALESCE(partition_no, -1), repeats_stored FROM import_splits "
    "WHERE import_id = :import_id AND state IS NOT NULL"
)
_DISCARD = text("UPDATE import_splits SET state = NULL WHERE import_id = :import_id")
_DELETE = (
    text("DELETE FROM import_chunks WHERE import_id = :import_id LIMIT :most"),
    text("DELETE FROM import_duplicates WHERE import_id = :import_id LIMIT :most"),
)


class Place(NamedTuple):
    """An import under splitting, and the name of the last checkpoint that the worker has read or written."""

    import_id: int
    generation: int
    checkpoint: str | None


@dataclass(frozen=True)
class StoredSplit:
    """A checkpoint: what identifies the split, the bytes that are read, the next partition of ids, and the state.

    `partition` is None until the whole file is read. Of the group that begins there, `repeats` duplicates are stored.
    """

    fingerprint: bytes
    bytes_read: int
    partition: int | None
    state: dict[str, Any]
    repeats: int = 0


@retry_on_db_conflict(resolve=rerun_if_unknown)
def read_checkpoint(import_id: int, fingerprint: bytes) -> StoredSplit | None:
    """Return the last checkpoint; None if it is one of another split, or the split starts over."""
    query = select(ImportSplits).where(ImportSplits.import_id == import_id, ImportSplits.fingerprint == fingerprint)
    with session() as reading:
        found = reading.scalars(query).one_or_none()
    if found is None or found.state is None:
        return None
    state = json.loads(found.state)
    return StoredSplit(bytes(found.fingerprint), found.bytes_read, found.partition_no, state, found.repeats_stored)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def read_progress(import_id: int) -> list[int]:
    """Return how far the split has got, as numbers that compare; an empty list before its first checkpoint.

    They are the bytes that are read, the partition of ids, and the duplicates that are stored of it.
    """
    with session() as reading:
        return list(reading.execute(_READ_PROGRESS, {"import_id": import_id}).one_or_none() or ())


def _is_written(place: Place, name: str, *_: object) -> bool | None:
    """Return True if the checkpoint is the last one, else None; wait for a COMMIT that is under way."""
    query = select(Imports.split_checkpoint).where(Imports.id == place.import_id).with_for_update()
    with session() as locking:
        last = locking.execute(query).scalar_one()
    return True if last == name else None


def _advance(transaction: Session, place: Place, name: str) -> None:
    """Lock the import's row for a checkpoint; raise ImportBusyError if this worker may not write one any more."""
    if count_changed_rows(transaction.execute(_ADVANCE, {**place._asdict(), "name": name})) != 1:
        raise ImportBusyError(retry_after_s=RETRY_AFTER_S)


@retry_on_db_conflict(resolve=_is_written)
def write_checkpoint(place: Place, name: str, chunks: Sequence[Chunk], stored: StoredSplit) -> bool:
    """Write a checkpoint with the chunks since the last one.

    Raises ImportBusyError if another worker has written one, or the import is not being split in this generation.
    """
    values = {
        "import_id": place.import_id,
        "fingerprint": stored.fingerprint,
        "bytes_read": stored.bytes_read,
        "partition": stored.partition,
        "state": json.dumps(stored.state),
    }
    with session() as transaction:
        _advance(transaction, place, name)
        insert_chunks(transaction, place.import_id, chunks)
        transaction.execute(_WRITE, values)
    return True


@retry_on_db_conflict(resolve=_is_written)
def write_duplicates(
    place: Place, name: str, duplicates: Sequence[tuple[int, int]], partition: int, repeats: int
) -> bool:
    """Write a checkpoint with duplicates (line, first line), of which some may be there; raise as `write_checkpoint`.

    `partition` begins the first group of which duplicates may be missing, `repeats` is how many of it are stored.
    """
    rows = [(place.import_id, line, first) for line, first in duplicates]
    with session() as transaction:
        _advance(transaction, place, name)
        insert_missing(transaction, "import_duplicates", ("import_id", "line_no", "first_line"), rows, key=2)
        stored = {"import_id": place.import_id, "partition": partition, "repeats": repeats}
        transaction.execute(_WRITE_PARTITION, stored)
    return True


@retry_on_db_conflict(resolve=_is_written)
def discard_some(place: Place, name: str) -> bool:
    """Make the split start over and delete some of its chunks and duplicates; raise as `write_checkpoint`.

    Returns whether there may be more of them; True after a COMMIT of unknown outcome.
    """
    with session() as transaction:
        _advance(transaction, place, name)
        transaction.execute(_DISCARD, {"import_id": place.import_id})
        most = {"import_id": place.import_id, "most": ROWS_PER_DELETE}
        deleted = [count_changed_rows(transaction.execute(delete, most)) for delete in _DELETE]
    return any(deleted)
