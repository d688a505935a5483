"""Reading exhibits of a tenant's cases.

Guaranteed: what belongs to another tenant is not found, exactly as if there were no such thing; a page costs the same
number of statements however long the list and the page; pages follow a unique key, so that whoever walks them meets
everything that was there throughout exactly once, whatever others add meanwhile.
Not guaranteed: that two pages show the same moment.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts import exhibits as contract
from core.paging import page_of
from shell.case_ops import case_id_of
from shell.matching_ops import matching, not_found
from shell.tables.cases import Cases
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits, Taggings
from shell.tables.names import Custodians, Tags
from shell.utils.db_helpers import forced, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.document_properties import load
from shell.utils.keys import start_of

SUMMARY = tuple(contract.ExhibitSummary.model_fields)
# Read from the row as they stand; the others are looked up or have another form.
PLAIN = tuple(name for name in contract.Exhibit.model_fields if name in Exhibits.__table__.columns)


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
    start = start_of(after, "exhibits", "control_number")
    with session() as reading:
        wanted = _exhibits_of(case_id_of(reading, caller, case), custodian, tag, control_number, start)
        rows = reading.execute(wanted.limit(limit + 1)).all()
    page, following = page_of(rows, limit, lambda row: (row.control_number,))
    return contract.ExhibitPage(items=[contract.ExhibitSummary(**row._mapping) for row in page], next=following)


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
