"""Reading exhibits and custodians of a tenant's cases.

Guaranteed: what belongs to another tenant is not found, exactly as if there were no such thing; a page costs the same
number of statements however long the list and the page; pages follow a unique key, so that whoever walks them meets
everything that was there throughout exactly once, whatever others add meanwhile.
Not guaranteed: that two pages show the same moment.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, false, select
from sqlalchemy.orm import Session

from core.contracts import exhibits as contract
from core.contracts.common import Caller
from core.errors import NotFoundError
from core.paging import decode_cursor, not_ours, page_of
from shell.tables import Cases, CustodianExhibits, Custodians, Exhibits, Taggings, Tags
from shell.utils.column_limits import column_limits
from shell.utils.db_helpers import forced, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.document_properties import load
from shell.utils.keys import unstorable

SUMMARY = tuple(contract.ExhibitSummary.model_fields)
# Read from the row as they stand; the others are looked up or have another form.
PLAIN = tuple(name for name in contract.Exhibit.model_fields if name in Exhibits.__table__.columns)
NO_SUCH_CASE = "you have no case of this name; names of cases are compared character by character"


@retry_on_db_conflict(resolve=repeating_is_harmless)
def list_exhibits(
    caller: Caller,
    case: str,
    custodian: str | None,
    tag: str | None,
    control_number: str | None,
    limit: int,
    after: str | None,
) -> contract.ExhibitPage:
    """A page of the case's exhibits in the byte order of their control numbers; the filters narrow it together.

    The database decides which names of custodians and tags are equal; a value that no row can hold matches none.
    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that is not ours.
    """
    start = _start(after, "exhibits", "control_number")
    with session() as reading:
        wanted = _exhibits_of(case_id_of(reading, caller, case), custodian, tag, control_number, start)
        rows = reading.execute(wanted.limit(limit + 1)).all()
    page, following = page_of(rows, limit, lambda row: (row.control_number,))
    return contract.ExhibitPage(items=[contract.ExhibitSummary(**row._mapping) for row in page], next=following)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def list_custodians(caller: Caller, case: str, limit: int, after: str | None) -> contract.CustodianPage:
    """A page of the case's custodians by name; names are unique as the column collates them, and so in order.

    Raises NotFoundError for an unknown case, InvalidInputError for a cursor that is not ours.
    """
    start = _start(after, "custodians", "name")
    with session() as reading:
        wanted = select(Custodians.id, Custodians.name).where(Custodians.case_id == case_id_of(reading, caller, case))
        if start is not None:
            wanted = wanted.where(Custodians.name > start)
        rows = reading.execute(wanted.order_by(Custodians.name).limit(limit + 1)).all()
    page, following = page_of(rows, limit, lambda row: (row.name,))
    return contract.CustodianPage(items=[contract.Custodian(**row._mapping) for row in page], next=following)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def get_exhibit(caller: Caller, exhibit_id: int) -> contract.Exhibit:
    """All that is stored of an exhibit; raises NotFoundError."""
    with session() as reading:
        return described(reading, *load_exhibit(reading, caller, exhibit_id))


def load_exhibit(reading: Session, caller: Caller, exhibit_id: int) -> tuple[Exhibits, str]:
    """The exhibit as it is committed, and its case's name; raises NotFoundError, for another tenant's as well."""
    wanted = select(Exhibits, Cases.name).join(Cases, Cases.id == Exhibits.case_id)
    mine = wanted.where(Exhibits.id == exhibit_id, Cases.tenant_id == caller.tenant_id)
    found = reading.execute(mine.execution_options(populate_existing=True)).one_or_none()
    if found is None:
        raise not_found([exhibit_id])
    return found[0], found[1]


def not_found(ids: list[int]) -> NotFoundError:
    """The error for exhibits that the tenant does not have; it names the first 20."""
    return NotFoundError(f"you have no exhibits of these ids: {', '.join(map(str, ids[:20]))}")


def described(reading: Session, exhibit: Exhibits, case: str) -> contract.Exhibit:
    """An exhibit as the API gives it; custodians and tags in the order of their names."""
    return contract.Exhibit(
        **{name: getattr(exhibit, name) for name in PLAIN},
        case=case,
        line=exhibit.line_no,
        properties=load(exhibit.document_properties) if exhibit.document_properties else {},
        custodians=[each.name for each in custodians_of(reading, exhibit.id)],
        tags=_tags_of(reading, exhibit.id),
    )


def custodians_of(reading: Session, exhibit_id: int) -> list[contract.Custodian]:
    """Who held the exhibit, in the order of the names."""
    held = CustodianExhibits.custodian_id == Custodians.id
    wanted = select(Custodians.id, Custodians.name).join(CustodianExhibits, held)
    rows = reading.execute(wanted.where(CustodianExhibits.exhibit_id == exhibit_id).order_by(Custodians.name))
    return [contract.Custodian(**row._mapping) for row in rows]


def _tags_of(reading: Session, exhibit_id: int) -> list[str]:
    wanted = select(Tags.name).join(Taggings, Taggings.tag_id == Tags.id)
    return list(reading.scalars(wanted.where(Taggings.exhibit_id == exhibit_id).order_by(Tags.name)))


def case_id_of(reading: Session, caller: Caller, name: str) -> int:
    """The id of the tenant's case of that name; raises NotFoundError."""
    wanted = select(Cases.id).where(Cases.tenant_id == caller.tenant_id, Cases.name == name)
    found = reading.scalars(wanted).one_or_none() if _can_be_held(name, "cases", "name") else None
    if found is None:
        raise NotFoundError(NO_SUCH_CASE)
    return found


def _exhibits_of(
    case_id: int, custodian: str | None, tag: str | None, control_number: str | None, start: str | None
) -> Select[Any]:
    columns = [getattr(Exhibits, name) for name in SUMMARY]
    wanted = select(*columns).where(Exhibits.case_id == case_id).order_by(Exhibits.control_number)
    if start is not None:
        wanted = wanted.where(Exhibits.control_number > start)
    filters = list(matching(case_id, custodian, tag, control_number))
    if filters:
        return wanted.where(*filters)
    # Of a case that is most of a small table the server would read all rows, and sort them for every page.
    return forced(wanted, Exhibits, "uq_exhibits_control_number")


def matching(
    case_id: int, custodian: str | None, tag: str | None, control_number: str | None
) -> Iterator[ColumnElement[bool]]:
    """What must hold of the case's exhibits; a value that no row can hold matches none."""
    if control_number is not None:
        known = _can_be_held(control_number, "exhibits", "control_number")
        yield Exhibits.control_number == control_number if known else false()
    if custodian is not None:
        means = select(Custodians.id).where(Custodians.case_id == case_id, Custodians.name == custodian)
        link = CustodianExhibits.custodian_id == means.scalar_subquery()
        known = _can_be_held(custodian, "custodians", "name")
        yield exists().where(CustodianExhibits.exhibit_id == Exhibits.id, link) if known else false()
    if tag is not None:
        means = select(Tags.id).where(Tags.case_id == case_id, Tags.name == tag)
        link = Taggings.tag_id == means.scalar_subquery()
        known = _can_be_held(tag, "tags", "name")
        yield exists().where(Taggings.exhibit_id == Exhibits.id, link) if known else false()


def _start(after: str | None, table: str, column: str) -> str | None:
    """The key behind which the page starts; only what the column can hold was ever a key."""
    if after is None:
        return None
    key = str(decode_cursor(after, (str,))[0])
    if not _can_be_held(key, table, column):
        raise not_ours()
    return key


def _can_be_held(value: str, table: str, column: str) -> bool:
    """Compared with what its character set lacks, a column is converted row by row, past its index."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return unstorable(value, column_limits(table)[column]) is None
