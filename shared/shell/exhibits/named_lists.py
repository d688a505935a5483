"""List the custodians and the tags of a case, and find custodians in all cases.

Guaranteed: data of another tenant, and of a case that the caller is not limited to, is not found; pages follow a unique
key, with the same few statements for each page. Custodians of one case, and tags, are read in the order of an index; to
find custodians in all cases, those that match are read and sorted. The documents of each name are counted exactly, in
an index of the links.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import QueryableAttribute, Session

from core.caller import Caller
from core.contracts.cases import CustodianPage, CustodianSummary, TagPage, TagSummary
from core.contracts.queries import CustodiansQuery, NamesQuery
from core.pagination import Page, Window, build_page
from shell.db.keyset import select_window
from shell.db.session import session
from shell.exhibits.cases import build_wall, find_chosen_case, get_chosen_case
from shell.exhibits.word_search import match_words
from shell.tables.cases import Cases
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.links import CustodianExhibits, Taggings
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import open_named_window


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_tags(caller: Caller, query: NamesQuery) -> TagPage:
    """Return a page of the case's tags in the order of their names, as the column collates them.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that this API did not issue.
    """
    window = open_named_window(query, "tags", "name")
    with session() as reading:
        own = select(Tags.id, Tags.name).where(Tags.case_id == get_chosen_case(reading, caller, query))
        statement = _filter(own, Tags, query)
        page = _read(reading, statement, window, Tags.name)
        documents = _count_documents(reading, Taggings.tag_id, page.items)
        total = _count(reading, statement) if query.count else None
    items = [TagSummary(**row._mapping, documents=documents.get(row.id, 0)) for row in page.items]
    return TagPage(items=items, next=page.next, prev=page.prev, total=total)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def list_custodians(caller: Caller, query: CustodiansQuery) -> CustodianPage:
    """Return a page of custodians in the order of their names, of a case or of all cases; raises as `list_tags` does.

    Equal names of several cases are in the order of their ids.
    """
    columns = (Custodians.id, Custodians.name, Custodians.case_id, Cases.name.label("case"))
    all_own = select(*columns).join_from(Custodians, Cases, Cases.id == Custodians.case_id)
    all_own = all_own.where(Cases.tenant_id == caller.tenant_id, *build_wall(caller))
    statement, key = _filter(all_own, Custodians, query), (Custodians.name, Custodians.id)
    with session() as reading:
        case_id = find_chosen_case(reading, caller, query)
        if case_id is None:
            page = _read(reading, statement, open_named_window(query, "custodians", "name", int), *key)
        else:
            statement = statement.where(Custodians.case_id == case_id)
            page = _read(reading, statement, open_named_window(query, "custodians", "name"), *key[:1])
        documents = _count_documents(reading, CustodianExhibits.custodian_id, page.items)
        total = _count(reading, statement) if query.count else None
    items = [CustodianSummary(**row._mapping, documents=documents.get(row.id, 0)) for row in page.items]
    return CustodianPage(items=items, next=page.next, prev=page.prev, total=total)


def _filter(statement: Any, model: type[Custodians] | type[Tags], query: NamesQuery | CustodiansQuery) -> Any:
    if query.search is None:
        return statement
    return statement.where(*match_words(model.name, query.search, model.__tablename__))


def _read(reading: Session, statement: Any, window: Window, *key: QueryableAttribute[Any]) -> Page[Any]:
    rows = reading.execute(select_window(statement, window, *key)).all()
    return build_page(rows, window, lambda row: tuple(getattr(row, column.key) for column in key))


def _count(reading: Session, statement: Any) -> int:
    return int(reading.execute(statement.with_only_columns(func.count(), maintain_column_froms=True)).scalar_one())


def _count_documents(reading: Session, linked: QueryableAttribute[int], rows: Sequence[Any]) -> dict[int, int]:
    """Return the number of documents of each row, by its id, in one statement; `linked` names the row in the links."""
    if not rows:
        return {}
    counted = select(linked, func.count()).where(is_in(linked, [row.id for row in rows])).group_by(linked)
    return {row_id: int(count) for row_id, count in reading.execute(counted)}
