"""Unite how the chunks of an import found its paths, once it ends, and read that for the API.

Guaranteed: what is stored is that of the chunks that are done, each once; a retry or a repetition replaces it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.volumes.path_tally import PathTally, unite_all
from shell.db.session import session
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

CHUNKS_PER_READ = 500
_READ = text(
    "SELECT chunk_no, paths FROM import_chunk_files WHERE import_id = :import_id AND chunk_no > :after "
    "ORDER BY chunk_no LIMIT :most"
)
_WHOLE = text("SELECT paths FROM import_chunk_files WHERE import_id = :import_id AND chunk_no = 0")
# The row of chunk 0 has what is known of the whole import.
_STORE = text(
    "INSERT INTO import_chunk_files (import_id, chunk_no, counts, paths) VALUES (:import_id, 0, '{}', :paths) "
    "ON DUPLICATE KEY UPDATE paths = VALUES(paths)"
)
_CLEAR = text("UPDATE import_chunk_files SET paths = :paths WHERE import_id = :import_id AND chunk_no = 0")


def unite_paths(import_record: Imports) -> PathTally | None:
    """Return how the paths of an import of a volume were found, by its chunks; None for another import."""
    if import_record.volume_id is None:
        return None
    return unite_all(_list_stored(import_record.id))


def store_paths(transaction: Session, import_id: int, tally: PathTally | None) -> None:
    """Write how the paths of the whole import were found, in place of what an earlier attempt wrote."""
    if tally is not None:
        paths = tally.to_json()
        transaction.execute(_STORE if paths else _CLEAR, {"import_id": import_id, "paths": paths})


def read_paths(reading: Session, import_id: int) -> PathTally | None:
    """Return how the paths of an import were found; None before it has ended, or if an earlier version imported it."""
    stored = reading.execute(_WHOLE, {"import_id": import_id}).scalar()
    return PathTally.from_json(stored) if stored else None


def _list_stored(import_id: int) -> Iterator[str]:
    after = 0
    while page := _read(import_id, after):
        yield from (paths for _, paths in page if paths)
        after = page[-1][0]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read(import_id: int, after: int) -> Sequence[tuple[int, str | None]]:
    values = {"import_id": import_id, "after": after, "most": CHUNKS_PER_READ}
    with session() as reading:
        return [(row.chunk_no, row.paths) for row in reading.execute(_READ, values)]
