"""The image files of a production: which source has which name in the volume, and how many pages.

Guaranteed: the order is that of the Bates numbers; copies and OPT come from the same list. The pages are those of the
page set that was stored with the numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import select

from core.productions.volume import SLIP_SHEET, FileKind, build_file_path
from shell.db.session import session
from shell.productions.documents import DocumentToProduce
from shell.productions.sources import DELETED, SourceFile, list_volume_files
from shell.tables.pages import Pages
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict


class ProducedImage(NamedTuple):
    """An image of a volume: its Bates number and path, its source (None for a slip sheet), and the document's pages.

    `pages` is None if the count is unknown, and for all images of a document but the first.
    """

    bates: str
    path: str
    source: SourceFile | None
    begins: bool
    pages: int | None


def list_images(documents: Sequence[DocumentToProduce]) -> dict[int, list[ProducedImage]]:
    """Return the images of the documents by exhibit id, in the order of their numbers."""
    sets = [each.page_set_id for each in documents if each.page_set_id and FileKind.IMAGE not in each.files]
    pages = list_page_files(sets) if sets else {}
    return {each.exhibit.id: _list_document_images(each, pages) for each in documents if each.has_images}


def _list_document_images(
    document: DocumentToProduce, pages: Mapping[int, Sequence[SourceFile]]
) -> list[ProducedImage]:
    if document.has_slip_sheet:
        path = build_file_path(FileKind.IMAGE, document.part, document.bates_begin, SLIP_SHEET)
        return [ProducedImage(document.bates_begin, path, None, begins=True, pages=1)]
    one_file = document.files.get(FileKind.IMAGE)
    sources = [one_file] if one_file else pages[document.page_set_id or 0]
    numbers = [document.bates_format.format_number(document.first_number + index) for index in range(len(sources))]
    return [
        ProducedImage(
            number,
            build_file_path(FileKind.IMAGE, document.part, number, source.path),
            source,
            begins=not index,
            pages=None if index else document.pages,
        )
        for index, (number, source) in enumerate(zip(numbers, sources, strict=True))
    ]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_page_files(page_set_ids: Sequence[int]) -> Mapping[int, Sequence[SourceFile]]:
    """Return the file of each page by page set, in the order of the pages."""
    statement = select(Pages).where(is_in(Pages.page_set_id, page_set_ids))
    with session() as reading:
        pages = reading.scalars(statement.order_by(Pages.page_set_id, Pages.page_no)).all()
        known = list_volume_files(reading, [page.file_id for page in pages if page.file_id is not None])
    found: dict[int, list[SourceFile]] = defaultdict(list)
    for page in pages:
        file = SourceFile(page.path or "") if page.file_id is None else known.get(page.file_id, DELETED)
        found[page.page_set_id].append(file)
    return found
