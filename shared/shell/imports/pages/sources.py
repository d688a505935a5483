"""Find the imports whose pages are compared, and read their facts.

An image load file is compared with the data file that its import comes after. One that comes after none, such as the
error file of another one, is compared with all data files of its volume that were imported, the newest first; one that
runs has it compared again when it ends (`reopening`). Image load files of which every chunk was imported for the same
data file take part: their pages are not missing. Of several of a volume, each is compared when all have ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.statuses import ImportKind
from shell.db.session import session
from shell.imports.state.compared_imports import Source
from shell.tables.imports import Imports
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

MAX_CHAIN = 100
_ENDED = "status IN ('completed', 'completed_with_rejections', 'checked')"
_ONE = text(
    "SELECT id, generation, kind, after_import_id FROM imports "
    "WHERE id = :import_id AND tenant_id = :tenant_id AND case_id = :case_id"
)
_OF_VOLUME = text(
    "SELECT id, generation, kind FROM imports WHERE volume_id = :volume_id AND tenant_id = :tenant_id "  # noqa: S608
    f"AND case_id = :case_id AND kind = 'rows' AND phase = 'import' AND ({_ENDED} OR status = 'running') "
    "ORDER BY id DESC"
)
_BESIDE = text(
    "SELECT id, generation, kind FROM imports WHERE after_import_id = :after AND tenant_id = :tenant_id "  # noqa: S608
    "AND case_id = :case_id AND kind = 'images' AND phase = :phase AND id <> :import_id "
    f"AND ({_ENDED} OR (status IN ('checking', 'running') AND chunks_left = 0)) ORDER BY id"
)
_CHUNKS = text(
    "SELECT chunk_no FROM import_chunk_files WHERE import_id = :import_id AND pages IS NOT NULL ORDER BY chunk_no"
)
_PAGES = text("SELECT pages FROM import_chunk_files WHERE import_id = :import_id AND chunk_no = :chunk_no")


@retry_on_db_conflict(resolve=rerun_if_unknown)
def find_sources(import_record: Imports) -> list[Source]:
    """Return the other imports that the pages of an import are compared with, the newest data file first."""
    with session() as reading:
        if import_record.after_import_id is None:
            return _find_of_volume(reading, import_record)
        before = list(_follow(reading, import_record))
        rows = [each for each in before if each.kind == ImportKind.ROWS]
        images = {each.import_id: each for each in before if each.kind == ImportKind.IMAGES}
        for each in rows:
            images |= {found.import_id: found for found in _find_beside(reading, import_record, each.import_id)}
        return rows + [images[each] for each in sorted(images)]


def _place(import_record: Imports) -> dict[str, int | str]:
    return {"tenant_id": import_record.tenant_id, "case_id": import_record.case_id}


def _find_of_volume(reading: Session, import_record: Imports) -> list[Source]:
    if import_record.volume_id is None:
        return []
    found = reading.execute(_OF_VOLUME, {"volume_id": import_record.volume_id, **_place(import_record)})
    return [Source(*row) for row in found]


def _follow(reading: Session, import_record: Imports) -> Iterator[Source]:
    """Yield the imports that come before, up to the data file."""
    after = import_record.after_import_id
    for _ in range(MAX_CHAIN):
        if after is None:
            return
        row = reading.execute(_ONE, {"import_id": after, **_place(import_record)}).one_or_none()
        if row is None:
            return
        yield Source(row.id, row.generation, row.kind)
        after = row.after_import_id if row.kind == ImportKind.IMAGES else None


def _find_beside(reading: Session, import_record: Imports, after: int) -> list[Source]:
    place = {"after": after, "phase": import_record.phase, "import_id": import_record.id, **_place(import_record)}
    return [Source(*row) for row in reading.execute(_BESIDE, place)]


def read_page_facts(import_id: int) -> Iterator[bytes]:
    """Yield the facts of each chunk of an import, in the order of the file, each read when it is needed."""
    for chunk_no in _list_chunks(import_id):
        found = _read_chunk(import_id, chunk_no)
        if found:
            yield found


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_chunks(import_id: int) -> Sequence[int]:
    with session() as reading:
        return reading.scalars(_CHUNKS, {"import_id": import_id}).all()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_chunk(import_id: int, chunk_no: int) -> bytes | None:
    with session() as reading:
        raw = reading.execute(_PAGES, {"import_id": import_id, "chunk_no": chunk_no}).scalar_one_or_none()
    return None if raw is None else bytes(raw)
