"""Which exhibits of a case are meant: by their ids, or by what they are linked to.

Guaranteed: every statement names the case; a value that no row can hold matches nothing, rather than what the server
would make of it; a production has at least one exhibit, and at most as many as one volume may have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, false, func, select
from sqlalchemy.orm import Session

from core.errors import InvalidInputError, NotFoundError, NothingToProduceError
from core.volume import MAX_DOCUMENTS
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits, Taggings
from shell.tables.names import Custodians, Tags
from shell.utils.db_helpers import among
from shell.utils.keys import can_be_held


def matching(
    case_id: int, custodian: str | None, tag: str | None, control_number: str | None
) -> Iterator[ColumnElement[bool]]:
    """What must hold of the case's exhibits; a value that no row can hold matches none."""
    if control_number is not None:
        known = can_be_held(control_number, "exhibits", "control_number")
        yield Exhibits.control_number == control_number if known else false()
    if custodian is not None:
        means = select(Custodians.id).where(Custodians.case_id == case_id, Custodians.name == custodian)
        link = CustodianExhibits.custodian_id == means.scalar_subquery()
        known = can_be_held(custodian, "custodians", "name")
        yield exists().where(CustodianExhibits.exhibit_id == Exhibits.id, link) if known else false()
    if tag is not None:
        means = select(Tags.id).where(Tags.case_id == case_id, Tags.name == tag)
        link = Taggings.tag_id == means.scalar_subquery()
        known = can_be_held(tag, "tags", "name")
        yield exists().where(Taggings.exhibit_id == Exhibits.id, link) if known else false()


def not_found(ids: list[int]) -> NotFoundError:
    """The error for exhibits that the tenant does not have; it names the first 20."""
    return NotFoundError(f"you have no exhibits of these ids: {', '.join(map(str, ids[:20]))}")


def count_selected(reading: Session, case_id: int, selection: str) -> int:
    """How many exhibits of the case a production's selection, as stored, has now.

    Raises NotFoundError for ids that the case does not have, NothingToProduceError where there is none, and
    InvalidInputError for more than 100,000.
    """
    asked = json.loads(selection)
    if "ids" in asked:
        wanted: list[int] = asked["ids"]
        found = set(reading.scalars(chosen(select(Exhibits.id), case_id, asked)))
        if missing := [each for each in wanted if each not in found]:
            raise not_found(missing)
        return len(wanted)
    count = int(reading.execute(chosen(select(func.count()).select_from(Exhibits), case_id, asked)).scalar_one())
    refuse_count(count)
    return count


def refuse_count(count: int) -> None:
    """Raise NothingToProduceError for none, InvalidInputError for more than a production can have."""
    if not count:
        raise NothingToProduceError()
    if count > MAX_DOCUMENTS:
        raise InvalidInputError(f"{count} exhibits match; a production has at most {MAX_DOCUMENTS}: narrow the query")


def chosen(wanted: Select[Any], case_id: int, asked: dict[str, Any]) -> Select[Any]:
    """The SELECT, narrowed to the exhibits of the case that were asked for by id or by query."""
    wanted = wanted.where(Exhibits.case_id == case_id)
    if "ids" in asked:
        return wanted.where(among(Exhibits.id, asked["ids"]))
    query = asked["query"]
    return wanted.where(*matching(case_id, query["custodian"], query["tag"], None))
