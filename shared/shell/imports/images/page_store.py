"""Read and write the pages of documents, by statements for all documents of a chunk.

Guaranteed: a page set is inserted once, with its pages, and never changed; the caller has locked the documents whose
page sets it sets.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.volumes.documents import PageOrigin
from shell.db.bulk_insert import insert_new
from shell.imports.images.documents import ReadDocument
from shell.imports.images.reader import ImageChunk
from shell.tables.imports import Imports
from shell.tables.pages import PageSets
from shell.utils.db_helpers import is_in

_SET_COLUMNS = (*("case_id", "import_id", "line_no", "volume_id", "page_count", "declared_count", "content_hash"),)
_PAGE_COLUMNS = ("page_set_id", "page_no", "image_key", "file_id", "path", "page_in_file", "rotation")
_NEW_SETS = text(
    "SELECT line_no, id FROM page_sets WHERE import_id = :import_id AND line_no BETWEEN :first_line AND :last_line"
)
# Finds every exhibit by its primary key, whatever the number of ids: a scan would wait for locks on other exhibits.
_SET = """
    UPDATE JSON_TABLE(:pairs, '$[*]' COLUMNS (id BIGINT PATH '$[0]', pages BIGINT PATH '$[1]')) AS changed
    STRAIGHT_JOIN exhibits AS exhibit FORCE INDEX (PRIMARY) ON exhibit.id = changed.id
    SET exhibit.page_set_id = changed.pages, exhibit.version = exhibit.version + 1
"""


class StoredPages(NamedTuple):
    """What tells the pages of a document from others: pages of one volume with one hash are equal."""

    content_hash: bytes
    volume_id: int | None


def read_page_sets(reading: Session, ids: Collection[int]) -> dict[int, StoredPages]:
    """Return page sets by id."""
    if not ids:
        return {}
    statement = select(PageSets.id, PageSets.content_hash, PageSets.volume_id)
    rows = reading.execute(statement.where(is_in(PageSets.id, sorted(ids))))
    return {row.id: StoredPages(bytes(row.content_hash), row.volume_id) for row in rows}


def read_origins(reading: Session, ids: Collection[int]) -> dict[int, PageOrigin]:
    """Return where page sets come from, by id."""
    if not ids:
        return {}
    statement = select(PageSets.id, PageSets.import_id, Imports.file_name, PageSets.line_no, Imports.after_import_id)
    statement = statement.join(Imports, Imports.id == PageSets.import_id).where(is_in(PageSets.id, sorted(ids)))
    rows = reading.execute(statement)
    return {row.id: PageOrigin(row.import_id, row.file_name, row.line_no, row.after_import_id) for row in rows}


def insert_pages(transaction: Session, images: ImageChunk, documents: Sequence[ReadDocument]) -> dict[int, int]:
    """Insert a page set with its pages for each document; return the ids by the documents' lines."""
    if not documents:
        return {}
    record, chunk = images.import_record, images.chunk
    rows = [
        (
            *(record.case_id, record.id, each.document.line_no, record.volume_id, len(each.document.pages)),
            *(each.document.declared_count, each.content_hash),
        )
        for each in documents
    ]
    insert_new(transaction, "page_sets", _SET_COLUMNS, rows)
    place = {"import_id": record.id, "first_line": chunk.first_line, "last_line": chunk.last_line}
    ids: dict[int, int] = {row.line_no: row.id for row in transaction.execute(_NEW_SETS, place)}
    pages = [row for each in documents for row in _list_pages(ids[each.document.line_no], each)]
    insert_new(transaction, "pages", _PAGE_COLUMNS, pages)
    return ids


def _list_pages(page_set_id: int, read: ReadDocument) -> list[tuple[Any, ...]]:
    return [
        (
            *(page_set_id, number, page.image_key, file and file.id, None if file else page.path),
            *(page.page_in_file, page.rotation),
        )
        for number, (page, file) in enumerate(zip(read.document.pages, read.files, strict=True), start=1)
    ]


def set_page_sets(transaction: Session, page_sets: Mapping[int, int | None]) -> None:
    """Set the page sets of exhibits, by id, and raise their versions, in one statement."""
    if page_sets:
        transaction.execute(text(_SET), {"pairs": json.dumps(sorted(page_sets.items()))})
