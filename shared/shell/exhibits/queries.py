"""Read an exhibit, and its changes.

Guaranteed: data of another tenant is not found, exactly as if it did not exist; the number of statements does not
depend on what an exhibit has.
Not guaranteed: that two pages of changes show the same state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts import exhibits as schemas
from core.contracts.pages import ListQuery
from core.exhibit_dates import describe_precisions
from core.exhibit_history import Action, Kind, decode_changes, describe_changes
from core.pagination import build_page, open_window
from shell.db.keyset import select_window
from shell.db.session import session
from shell.exhibits.cases import build_wall
from shell.exhibits.delivered import list_numbers
from shell.exhibits.filters import exhibits_not_found
from shell.exhibits.summaries import build_document
from shell.families.reading import find_parents
from shell.tables.cases import Cases
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits
from shell.tables.history import ExhibitChanges
from shell.tables.links import CustodianExhibits, Taggings
from shell.tables.pages import PageSets
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.document_properties import parse_properties
from shell.utils.user_names import read_user_names

# Fields that are columns of the row; the others are looked up or converted.
ROW_FIELDS = tuple(
    name for name in schemas.Exhibit.model_fields if name in Exhibits.__table__.columns and name != "date_precision"
)
# A response of a function may have 6 MB.
MAX_PAGE_BYTES = 2_000_000
# The chunk that created an exhibit committed it, and its own end, in one transaction.
_CREATION = text(
    "SELECT imports.user_id, chunk.finished_at FROM imports LEFT JOIN import_chunks AS chunk "
    "ON chunk.import_id = imports.id AND chunk.first_line <= :line AND chunk.last_line >= :line "
    "WHERE imports.id = :import_id"
)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def get_exhibit(caller: Caller, exhibit_id: int) -> schemas.Exhibit:
    """Return all data of an exhibit. Raises NotFoundError."""
    with session() as reading:
        return describe_exhibit(reading, *load_exhibit(reading, caller, exhibit_id))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_changes(caller: Caller, exhibit_id: int, query: ListQuery) -> schemas.ExhibitHistoryPage:
    """Return a page of the exhibit's changes by their versions; the first version is its creation by an import.

    A page ends early, after at least one change, before it has more than MAX_PAGE_BYTES. Raises NotFoundError, and
    InvalidInputError for a cursor that this API did not issue.
    """
    window = open_window(query, (int,))
    statement = select(ExhibitChanges).where(ExhibitChanges.exhibit_id == exhibit_id)
    with session() as reading:
        exhibit, _ = load_exhibit(reading, caller, exhibit_id)
        rows = reading.scalars(select_window(statement, window, ExhibitChanges.version)).all()
        entries = [_describe_change(row) for row in rows]
        if window.reads_down and len(rows) <= window.limit and (window.start is None or window.start[0] > 1):
            entries.append(_describe_creation(reading, exhibit))
        elif not window.reads_down and window.start is None:
            entries = [_describe_creation(reading, exhibit), *entries]
        window = replace(window, limit=min(window.limit, _count_fitting(entries)))
        page = build_page(entries, window, lambda entry: (entry.version,))
        names = read_user_names(reading, caller.tenant_id, [entry.user_id for entry in page.items])
    items = [entry.model_copy(update={"user_name": names.get(entry.user_id or "")}) for entry in page.items]
    return schemas.ExhibitHistoryPage(items=items, next=page.next, prev=page.prev)


def _count_fitting(entries: Sequence[schemas.ExhibitHistoryEntry]) -> int:
    """Return how many of the first entries, at least one, have at most MAX_PAGE_BYTES together."""
    sizes = accumulate(len(each.model_dump_json(ensure_ascii=True)) for each in entries)
    return max(1, sum(size <= MAX_PAGE_BYTES for size in sizes))


def _describe_change(row: ExhibitChanges) -> schemas.ExhibitHistoryEntry:
    changes: dict[str, Any] = {kind.value: {} for kind in Kind} | describe_changes(decode_changes(row.changes))
    # The hash of an import's row means nothing to a client.
    changes["fields"] = {name: change for name, change in changes["fields"].items() if name != "row_hash"}
    return schemas.ExhibitHistoryEntry(
        version=row.version,
        action=Action(row.action),
        user_id=row.user_id,
        user_name=None,
        changed_at=row.created_at_gmt,
        import_id=row.import_id,
        line=row.line_no,
        undo_no=row.undo_no,
        tagging_job_id=row.tagging_job_id,
        **changes,
    )


def _describe_creation(reading: Session, exhibit: Exhibits) -> schemas.ExhibitHistoryEntry:
    source = {"import_id": exhibit.import_id, "line": exhibit.line_no}
    created = reading.execute(_CREATION, source).one_or_none()
    return schemas.ExhibitHistoryEntry(
        version=1,
        action=Action.IMPORTED,
        user_id=created.user_id if created else None,
        user_name=None,
        changed_at=created.finished_at if created else None,
        **source,
        undo_no=None,
        tagging_job_id=None,
        fields={},
        properties={},
        custodians={},
        tags={},
    )


def load_exhibit(reading: Session, caller: Caller, exhibit_id: int) -> tuple[Exhibits, str]:
    """Return the exhibit as committed, and the name of its case.

    Raises NotFoundError, also for an exhibit of another tenant.
    """
    statement = select(Exhibits, Cases.name).join(Cases, Cases.id == Exhibits.case_id)
    own = statement.where(Exhibits.id == exhibit_id, Cases.tenant_id == caller.tenant_id, *build_wall(caller))
    found = reading.execute(own.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise exhibits_not_found([exhibit_id])
    return found[0], found[1]


def describe_exhibit(reading: Session, exhibit: Exhibits, case: str) -> schemas.Exhibit:
    """Return the exhibit as the API represents it, with custodians and tags in the order of their names."""
    document = build_document(exhibit)
    parent = find_parents(reading, exhibit.case_id, [document]).get(exhibit.id)
    fields = {name: getattr(exhibit, name) for name in ROW_FIELDS}
    fields["parent_control_number"] = parent.control_number if parent else None
    return schemas.Exhibit(
        **fields,
        parent_stated_by=parent.kind if parent else None,
        case=case,
        line=exhibit.line_no,
        date_precision=describe_precisions(exhibit.date_precision),
        properties=parse_properties(exhibit.document_properties) if exhibit.document_properties else {},
        custodians=[each.name for each in list_exhibit_custodians(reading, exhibit.id)],
        tags=_list_tags(reading, exhibit.id),
        page_count=_count_pages(reading, exhibit.page_set_id),
        production_numbers=list_numbers(reading, exhibit),
        has_extracted_text=exhibit.text_id is not None,
    )


def list_exhibit_custodians(reading: Session, exhibit_id: int) -> list[schemas.Custodian]:
    """Return the custodians of the exhibit in the order of their names."""
    linked = CustodianExhibits.custodian_id == Custodians.id
    statement = select(Custodians.id, Custodians.name).join(CustodianExhibits, linked)
    rows = reading.execute(statement.where(CustodianExhibits.exhibit_id == exhibit_id).order_by(Custodians.name))
    return [schemas.Custodian(**row._mapping) for row in rows]


def _list_tags(reading: Session, exhibit_id: int) -> list[str]:
    statement = select(Tags.name).join(Taggings, Taggings.tag_id == Tags.id)
    return list(reading.scalars(statement.where(Taggings.exhibit_id == exhibit_id).order_by(Tags.name)))


def _count_pages(reading: Session, page_set_id: int | None) -> int:
    if page_set_id is None:
        return 0
    return reading.scalar(select(PageSets.page_count).where(PageSets.id == page_set_id)) or 0
