"""Read the pages of an exhibit.

Guaranteed: data of another tenant is not found; a page of the list takes the same few statements for any exhibit. Not
guaranteed: that two pages of the list show one state; `importId` changes if the exhibit gets other pages meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.exhibits import ImagePage, ImagePageList
from core.contracts.pages import ListQuery
from core.pagination import Window, build_page, open_window
from shell.db.keyset import select_window
from shell.db.session import session
from shell.exhibits.cases import build_wall
from shell.exhibits.queries import load_exhibit
from shell.tables.cases import Cases
from shell.tables.pages import Pages, PageSets
from shell.tables.volumes import VolumeFiles
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict

_COLUMNS = (
    *(Pages.page_no, Pages.image_key, Pages.path, Pages.page_in_file, Pages.rotation),
    *(PageSets.volume_id, PageSets.import_id, VolumeFiles.path.label("file")),
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_pages(caller: Caller, exhibit_id: int, query: ListQuery) -> ImagePageList:
    """Return a page of the exhibit's pages, in order.

    Raises NotFoundError, and InvalidInputError for a cursor that this API did not issue.
    """
    window = open_window(query, (int,))
    with session() as reading:
        exhibit, _ = load_exhibit(reading, caller, exhibit_id)
        rows = _read(reading, exhibit.page_set_id, window) if exhibit.page_set_id else []
    page = build_page(rows, window, lambda row: (row.page_no,))
    return ImagePageList(items=list(map(_describe, page.items)), next=page.next, prev=page.prev)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def count_pages(caller: Caller, page_set_ids: Sequence[int]) -> dict[int, int]:
    """Return the number of pages of those of these page sets that the tenant has, by id."""
    own = (is_in(PageSets.id, page_set_ids), Cases.tenant_id == caller.tenant_id, *build_wall(caller))
    statement = select(PageSets.id, PageSets.page_count).join(Cases, Cases.id == PageSets.case_id).where(*own)
    with session() as reading:
        return {row.id: row.page_count for row in reading.execute(statement)}


def _read(reading: Session, page_set_id: int, window: Window) -> list[Any]:
    statement = (
        select(*_COLUMNS)
        .join(PageSets, PageSets.id == Pages.page_set_id)
        .outerjoin(VolumeFiles, VolumeFiles.id == Pages.file_id)
        .where(Pages.page_set_id == page_set_id)
    )
    return list(reading.execute(select_window(statement, window, Pages.page_no)))


def _describe(row: Any) -> ImagePage:
    names = ("image_key", "volume_id", "file", "path", "page_in_file", "rotation", "import_id")
    return ImagePage(page=row.page_no, **{name: getattr(row, name) for name in names})
