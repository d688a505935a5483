"""Find the twin of a chunk: the chunk of an earlier import of the case that has the same bytes and layout.

Guaranteed: every row of a twin became an exhibit, without a warning, and was read by code of the same identity. It only
reads. Whether the exhibits are still as they were made is decided in the transaction that completes the chunk
(`shell.imports.twins.writer`).
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.imports.production_columns import ProductionColumns
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.layout import Layout
from core.load_mode import Mode
from core.statuses import ImportPhase
from shell.db.session import session
from shell.imports.chunks.chunk_source import LoadedChunk, read_bytes
from shell.imports.rows.reader_identity import identify_reader
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

# The place within the file and in lines is that of the chunk, so that what is said of a row would be the same.
_FIND = text("""
    SELECT earlier.id, earlier.layout
    FROM imports AS mine
    JOIN import_chunks AS chunk ON chunk.import_id = mine.id AND chunk.chunk_no = :chunk_no
    JOIN imports AS earlier ON earlier.case_id = mine.case_id AND earlier.sha256 = mine.sha256 AND earlier.id < mine.id
    JOIN import_chunks AS twin ON twin.import_id = earlier.id AND twin.chunk_no = chunk.chunk_no
    WHERE mine.id = :import_id AND mine.tenant_id = earlier.tenant_id
      AND earlier.kind = 'rows' AND earlier.phase = 'import'
      AND earlier.status IN ('completed', 'completed_with_rejections')
      AND earlier.volume_id IS NULL AND earlier.corrects_import_id IS NULL
      AND twin.status = 'done' AND twin.reader = :reader AND twin.sha256 = chunk.sha256
      AND twin.imported = twin.row_count AND twin.row_count = chunk.row_count AND twin.warnings = 0
      AND twin.first_line = chunk.first_line AND twin.last_line = chunk.last_line
      AND twin.byte_start = chunk.byte_start AND twin.byte_end = chunk.byte_end
      AND twin.boundaries IS NULL AND chunk.boundaries IS NULL
    ORDER BY earlier.id LIMIT 1
""")


class TwinChunk(NamedTuple):
    """A chunk whose bytes were verified, and the import that has its twin under the same number."""

    loaded: LoadedChunk
    import_id: int


def find_twin(loaded: LoadedChunk) -> TwinChunk | None:
    """Return the chunk with the import that has its twin, its bytes verified; None where the rows have to be read.

    That is so in any mode but append, in checks and in the imports after them, whose rows are compared one by one, in
    corrections, in volumes, beside rows that repeat an id, and for files that claim further Bates ranges. Raises
    StorageRefusedError if the bytes are not those that the splitting pass read.
    """
    if not _may_have_twin(loaded):
        return None
    found = _find(loaded.chunk.import_id, loaded.chunk.chunk_no)
    if found is None or Layout.from_json(found[1]) != loaded.layout:
        return None
    read_bytes(loaded)
    return TwinChunk(loaded, found[0])


def _may_have_twin(loaded: LoadedChunk) -> bool:
    record, chunk = loaded.import_record, loaded.chunk
    return (
        loaded.has_same_file
        and not loaded.has_images
        and record.phase == ImportPhase.IMPORT
        and record.volume_id is None
        and record.corrects_import_id is None
        and chunk.check_digest is None
        and not loaded.first_lines
        and loaded.layout.load_mode.mode is Mode.APPEND
        and chunk.byte_end - chunk.byte_start <= MAX_RECORD_BYTES
        and not ProductionColumns.find(loaded.layout).others
    )


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find(import_id: int, chunk_no: int) -> tuple[int, str] | None:
    with session() as reading:
        return _select(reading, import_id, chunk_no)


def _select(reading: Session, import_id: int, chunk_no: int) -> tuple[int, str] | None:
    place = {"import_id": import_id, "chunk_no": chunk_no, "reader": identify_reader()}
    found = reading.execute(_FIND, place).one_or_none()
    return None if found is None else (found.id, found.layout)
