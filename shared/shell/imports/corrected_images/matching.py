"""Find the rejected documents of an image load file whose rows were corrected.

Guaranteed: keys are compared as the import of the images has compared them, with its column, and a key that several
documents of the case have is of none of them. Lines that are corrected, being corrected or discarded are left out. It
only reads; memory holds the documents that are found.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.load_file.layout import Layout
from core.load_mode import OverlayKey
from core.volumes.documents import unpack_documents
from shell.exhibits.updates import find_by_key
from shell.tables.imports import Imports
from shell.utils.key_validation import is_storable

LINES_PER_STATEMENT = 2_000
# The end of an import makes PAGES_OF_REJECTED_ROW of OPT_DOC_NOT_FOUND where a rejected row has the key.
_OPEN = text(
    "SELECT rejection.line_no, rejection.byte_start, rejection.byte_len, rejection.chunk_no, rejection.control_number "
    "FROM import_rejections AS rejection LEFT JOIN import_corrections AS claim "
    "ON claim.import_id = rejection.import_id AND claim.line_no = rejection.line_no "
    "LEFT JOIN imports AS correcting ON correcting.id = claim.correcting_import_id "
    "WHERE rejection.import_id = :import_id AND rejection.line_no > :after AND rejection.seq = 0 "
    "AND rejection.code IN ('OPT_DOC_NOT_FOUND', 'PAGES_OF_REJECTED_ROW') "
    "AND (claim.status IS NULL OR (claim.status = 'pending' AND COALESCE(correcting.status, '') <> 'running')) "
    "ORDER BY rejection.line_no LIMIT :most"
)
_DOCUMENTS = text(
    "SELECT documents FROM import_chunk_files WHERE import_id = :import_id AND chunk_no > 0 AND documents IS NOT NULL"
)


class RejectedDocument(NamedTuple):
    """A rejected document: its first line, bytes [byte_start, byte_end) and chunk, and the exhibit that it is of."""

    line_no: int
    byte_start: int
    byte_end: int
    chunk_no: int
    exhibit_id: int


def find_documents(reading: Session, images: Imports) -> list[RejectedDocument]:
    """Return the rejected documents of an image load file that the case has now, in the order of the file."""
    return [document for page in _read_pages(reading, images.id) for document in _match(reading, images, page)]


def find_accepted(reading: Session, import_id: int) -> set[int]:
    """Return the exhibits of the rows of a correction that the case has."""
    stored = reading.scalars(_DOCUMENTS, {"import_id": import_id}).all()
    return {each.exhibit_id for packed in stored for each in unpack_documents(bytes(packed)) if each.code is None}


def _read_pages(reading: Session, import_id: int) -> Iterator[Sequence[Any]]:
    place = {"import_id": import_id, "after": 0, "most": LINES_PER_STATEMENT}
    while page := reading.execute(_OPEN, place).all():
        yield page
        place["after"] = page[-1].line_no


def _match(reading: Session, images: Imports, page: Sequence[Any]) -> Iterator[RejectedDocument]:
    layout = Layout.from_json(images.layout or "{}")
    key = OverlayKey(str(layout.image_key))
    keys = {row.control_number for row in page if is_storable(row.control_number, "exhibits", key.value)}
    found = find_by_key(reading, images.case_id, key, keys, any_number=layout.any_number)
    for row in page:
        exhibits = found.get(row.control_number, [])
        if len(exhibits) == 1:
            end = row.byte_start + row.byte_len
            yield RejectedDocument(row.line_no, row.byte_start, end, row.chunk_no, exhibits[0].id)
