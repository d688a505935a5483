"""Find a chunk and read its bytes: what the readers of rows and of images stand on.

Guaranteed: it only reads; the bytes are those that the splitting pass read, otherwise the chunk is retried. The row of
the import is read first: if the import was retried since, the chunk is read again, because what it found in the case
may be gone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import bindparam, exists, select
from sqlalchemy.orm import Session, aliased, load_only

from core.errors import StorageRefusedError
from core.load_file.layout import Layout
from core.statuses import ACTIVE_STATUSES, ChunkStatus, ImportKind
from shell.aws.s3 import ObjectVersion
from shell.db.session import session
from shell.observability import logger
from shell.tables.chunks import ImportChunks, ImportDuplicates
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# The driver converts every selected column, used or not.
_COLUMNS = (
    *(Imports.status, Imports.phase, Imports.generation, Imports.kind, Imports.after_import_id, Imports.tenant_id),
    *(Imports.case_id, Imports.user_id, Imports.layout),
    *(Imports.bucket, Imports.object_key, Imports.version_id, Imports.etag, Imports.volume_id),
    Imports.corrects_import_id,
)
_EARLIER = aliased(Imports)
_LOAD = (
    select(
        Imports,
        ImportChunks,
        exists()
        .where(_EARLIER.case_id == Imports.case_id, _EARLIER.sha256 == Imports.sha256, _EARLIER.id < Imports.id)
        .label("has_same_file"),
    )
    .join(ImportChunks, ImportChunks.import_id == Imports.id)
    .where(Imports.id == bindparam("import_id"), ImportChunks.chunk_no == bindparam("chunk_no"))
    .options(load_only(*_COLUMNS, raiseload=True))
)
_DUPLICATES = select(ImportDuplicates.line_no, ImportDuplicates.first_line).where(
    ImportDuplicates.import_id == bindparam("import_id"),
    ImportDuplicates.line_no.between(bindparam("first"), bindparam("last")),
)


class LoadedChunk(NamedTuple):
    """A chunk with its import; `first_lines` maps each line with a duplicate id to the first line with that id.

    `has_same_file`: an earlier import of the case has a file with the same hash.
    """

    import_record: Imports
    chunk: ImportChunks
    layout: Layout
    first_lines: Mapping[int, int]
    has_same_file: bool = False

    @property
    def has_images(self) -> bool:
        """Whether it is one of an image load file."""
        return self.import_record.kind == ImportKind.IMAGES


def load_chunk(import_id: int, chunk_no: int) -> LoadedChunk | str:
    """Return the chunk as it is registered; the status instead if there is nothing to import."""
    found = _load(import_id, chunk_no)
    if found is None:
        logger.warning("chunk not found", extra={"import_id": import_id, "chunk_no": chunk_no})
        return "unknown"
    import_record, chunk, first_lines, has_same_file = found
    if import_record.status not in ACTIVE_STATUSES:
        return import_record.status
    if chunk.status != ChunkStatus.PENDING:
        return chunk.status
    layout = Layout.from_json(import_record.layout or "{}")
    return LoadedChunk(import_record, chunk, layout, first_lines, has_same_file)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load(import_id: int, chunk_no: int) -> tuple[Imports, ImportChunks, dict[int, int], bool] | None:
    with session() as reading:
        row = reading.execute(_LOAD, {"import_id": import_id, "chunk_no": chunk_no}).one_or_none()
        return None if row is None else (row[0], row[1], _find_duplicates(reading, row[1]), bool(row[2]))


def _find_duplicates(reading: Session, chunk: ImportChunks) -> dict[int, int]:
    lines = {"import_id": chunk.import_id, "first": chunk.first_line, "last": chunk.last_line}
    return {row.line_no: row.first_line for row in reading.execute(_DUPLICATES, lines)}


def read_bytes(loaded: LoadedChunk) -> bytes:
    """Return the bytes of the chunk; raise StorageRefusedError if they are not those that the splitting pass read."""
    raw = read_part(loaded, loaded.chunk.byte_start, loaded.chunk.byte_end)
    digest = hashlib.sha256(raw)
    digest.update(loaded.chunk.boundaries or b"")
    if digest.digest() != loaded.chunk.sha256:
        raise StorageRefusedError("The chunk's bytes differ from those that the splitting pass read.")
    return raw


def read_part(loaded: LoadedChunk, start: int, end: int) -> bytes:
    """Return the bytes [start, end) of the version of the file; they are not compared with what was split."""
    record = loaded.import_record
    return ObjectVersion(record.bucket, record.object_key, record.version_id, record.etag).read(start, end)


def build_miscount(found: int, chunk: ImportChunks) -> StorageRefusedError:
    """Return the error for a chunk that has another number of records than the splitting pass counted."""
    return StorageRefusedError(f"The chunk has {found} records; the splitting pass counted {chunk.row_count}.")
