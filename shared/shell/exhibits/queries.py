"""Read the exhibits of a tenant's cases.

Guaranteed: data of another tenant is not found, exactly as if it did not exist; the number of statements for a page
does not depend on the length of the list or the page; pages follow a unique key, so that a client that reads all pages
gets every exhibit that existed throughout exactly once, whatever is added meanwhile.
Not guaranteed: that two pages show the same state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from sqlalchemy import Select, select, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts import exhibits as schemas
from core.contracts.pages import ListQuery
from core.contracts.queries import ExhibitQuery
from core.exhibit_dates import describe_precisions
from core.exhibit_history import Action, Kind, decode_changes, describe_changes
from core.families.resolution import Document, Parent
from core.pagination import build_page, open_window, paginate
from shell.db.keyset import select_window
from shell.db.session import session
from shell.exhibits.cases import build_wall, get_chosen_case
from shell.exhibits.delivered import list_numbers
from shell.exhibits.filters import build_exhibit_filters, exhibits_not_found
from shell.exhibits.search import build_search_conditions, find_narrow_link
from shell.families.reading import find_parents
from shell.tables.cases import Cases
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits
from shell.tables.history import ExhibitChanges
from shell.tables.links import CustodianExhibits, Taggings
from shell.tables.pages import PageSets
from shell.utils.db_helpers import force_index, rerun_if_unknown, retry_on_db_conflict
from shell.utils.document_properties import parse_properties
from shell.utils.key_validation import decode_start_key
from shell.utils.user_names import read_user_names

SUMMARY_FIELDS = tuple(schemas.ExhibitSummary.model_fields)
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
def list_exhibits(caller: Caller, query: ExhibitQuery) -> schemas.ExhibitPage:
    """Return a page of the case's exhibits that match all filters, in the byte order of their control numbers.

    The database decides which names of custodians and tags are equal; a value that its column cannot store matches
    nothing. Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue, and
    FilterTooBroadError if a filter without an index would read too many exhibits.
    """
    start = decode_start_key(query.after, "exhibits", "control_number")
    with session() as reading:
        case_id = get_chosen_case(reading, caller, query)
        rows = reading.execute(_select_exhibits(reading, case_id, query, start).limit(query.limit + 1)).all()
        parents = find_parents(reading, case_id, [_build_document(row) for row in rows])
    page, following = paginate(rows, query.limit, lambda row: (row.control_number,))
    return schemas.ExhibitPage(items=[_describe_row(row, parents.get(row.id)) for row in page], next=following)


def _describe_row(row: Any, parent: Parent | None) -> schemas.ExhibitSummary:
    values = {**row._mapping, "parent_control_number": parent.control_number if parent else None}
    return schemas.ExhibitSummary(**{name: values[name] for name in SUMMARY_FIELDS})


def _build_document(row: Any) -> Document:
    return Document(row.id, row.control_number, row.bates_begin, row.parent_control_number, row.import_id, row.line_no)


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
    document = _build_document(exhibit)
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


def _select_exhibits(reading: Session, case_id: int, query: ExhibitQuery, start: str | None) -> Select[Any]:
    columns = [getattr(Exhibits, name) for name in (*SUMMARY_FIELDS, "import_id", "line_no")]
    statement = select(*columns).where(Exhibits.case_id == case_id).order_by(Exhibits.control_number)
    if start is not None:
        statement = statement.where(Exhibits.control_number > start)
    searched = list(build_search_conditions(case_id, query))
    link = find_narrow_link(reading, case_id, query) if searched else None
    named = {name: None if link and link.filter == name else getattr(query, name) for name in ("custodian", "tag")}
    indexed = list(build_exhibit_filters(case_id, **named, control_number=query.control_number))
    statement = statement.where(*indexed, *searched)
    if link:
        return link.lead(statement)
    # For a case that is most of a small table, the server would scan the table and sort it for every page.
    return statement if indexed else force_index(statement, Exhibits, "uq_exhibits_control_number")
