"""Read the documents that the chunks of a volume's load file have stored, and which of them have pages.

Guaranteed: they come in the order of the file, a chunk at a time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.codes import WarningCode
from core.volumes.documents import NamedDocument, unpack_documents
from shell.db.session import session
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict

NO_IMAGES = WarningCode.NO_IMAGES.value
# Counts of pages that the end of a check corrects.
PAGE_COUNTS = (
    *("documents", "pages", "missing_images", "declared", "listed", "in_files", "unreadable_images", "lines_rejected"),
)
# Counts of a whole volume, as of the end of an import.
UNREFERENCED, OF_REJECTED_ROWS = "unreferenced", "of_rejected_rows"
# The row of chunk 0 has what is known of the whole import.
_STORE = text(
    "INSERT INTO import_chunk_files (import_id, chunk_no, counts) "
    "VALUES (:import_id, 0, JSON_MERGE_PATCH('{}', :counts)) "
    "ON DUPLICATE KEY UPDATE counts = JSON_MERGE_PATCH(counts, :counts)"
)
_PAGE_PATHS = ", ".join(f"'$.{name}'" for name in PAGE_COUNTS)
_CLEAR = text(
    f"UPDATE import_chunk_files SET counts = JSON_REMOVE(counts, {_PAGE_PATHS}) "  # noqa: S608 - constants
    "WHERE import_id = :import_id AND chunk_no = 0"
)
_CHUNKS = text(
    "SELECT chunk_no FROM import_chunk_files WHERE import_id = :import_id AND documents IS NOT NULL ORDER BY chunk_no"
)
_DOCUMENTS = text("SELECT documents FROM import_chunk_files WHERE import_id = :import_id AND chunk_no = :chunk_no")


def store_whole_counts(transaction: Session, import_id: int, **counts: int | None) -> None:
    """Store counts of the whole import, in place of those that have the same names; None leaves none in place."""
    transaction.execute(_STORE, {"import_id": import_id, "counts": json.dumps(counts)})


def clear_page_counts(transaction: Session, import_id: int) -> None:
    """Remove what the end of a check has added to the counts of its chunks: a run decides about each document anew."""
    transaction.execute(_CLEAR, {"import_id": import_id})


def read_accepted(import_id: int) -> Iterator[list[NamedDocument]]:
    """Yield the accepted documents of each chunk of an import; none if the volume has no other load file."""
    for chunk_no in _list_chunks(import_id):
        yield [each for each in _read_chunk(import_id, chunk_no) if each.code is None]


def read_rejected(import_id: int) -> Iterator[list[NamedDocument]]:
    """Yield the rejected rows of each chunk of an import of a volume's load file."""
    for chunk_no in _list_chunks(import_id):
        yield [each for each in _read_chunk(import_id, chunk_no) if each.code is not None]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _list_chunks(import_id: int) -> Sequence[int]:
    with session() as reading:
        return reading.scalars(_CHUNKS, {"import_id": import_id}).all()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_chunk(import_id: int, chunk_no: int) -> list[NamedDocument]:
    with session() as reading:
        raw = reading.execute(_DOCUMENTS, {"import_id": import_id, "chunk_no": chunk_no}).scalar_one_or_none()
    return unpack_documents(raw) if raw else []


def find_without_pages(case_id: int, documents: Sequence[NamedDocument]) -> list[NamedDocument]:
    """Return those of the documents that the case holds without pages, and those that it does not hold."""
    with_pages = _find_with_pages(case_id, sorted({each.exhibit_id for each in documents if each.exhibit_id}))
    return [each for each in documents if each.exhibit_id not in with_pages]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_with_pages(case_id: int, ids: Sequence[int]) -> set[int]:
    if not ids:
        return set()
    statement = select(Exhibits.id).where(Exhibits.case_id == case_id, Exhibits.page_set_id.is_not(None))
    with session() as reading:
        return set(reading.scalars(statement.where(is_in(Exhibits.id, ids))))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def find_control_numbers(case_id: int, ids: Collection[int]) -> dict[int, str]:
    """Return the control numbers of the case's documents with these ids."""
    if not ids:
        return {}
    statement = select(Exhibits.id, Exhibits.control_number).where(Exhibits.case_id == case_id)
    with session() as reading:
        rows = reading.execute(statement.where(is_in(Exhibits.id, sorted(ids))))
        return {row.id: row.control_number for row in rows}


def describe_without_images(line_no: int) -> str:
    """Return the message about a document of the data file without pages."""
    return (
        f"Line {line_no} of the data file: the document has no pages in the image load file. Ask the sender whether "
        "it has images."
    )
