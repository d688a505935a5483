"""Conditions that select exhibits of a case by their links or control number.

Guaranteed: every subquery is limited to the case; a value that its column cannot store matches nothing, instead of what
the server would convert it to.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ColumnElement, exists, false, select

from core.errors import NotFoundError
from core.named_lists import format_ids
from shell.tables.custodians_tags import Custodians, Tags
from shell.tables.exhibits import Exhibits
from shell.tables.links import CustodianExhibits, Taggings
from shell.utils.db_helpers import is_exactly
from shell.utils.key_validation import is_storable


def build_exhibit_filters(
    case_id: int, custodian: str | None, tag: str | None, control_number: str | None
) -> Iterator[ColumnElement[bool]]:
    """Yield one condition for each value that is not None.

    The database decides which names of custodians and tags are equal, as when they are stored; control numbers are
    compared byte for byte.
    """
    if control_number is not None:
        known = is_storable(control_number, "exhibits", "control_number")
        yield is_exactly(Exhibits.control_number, [control_number]) if known else false()
    if custodian is not None:
        matching = select(Custodians.id).where(Custodians.case_id == case_id, Custodians.name == custodian)
        link = CustodianExhibits.custodian_id == matching.scalar_subquery()
        known = is_storable(custodian, "custodians", "name")
        yield exists().where(CustodianExhibits.exhibit_id == Exhibits.id, link) if known else false()
    if tag is not None:
        matching = select(Tags.id).where(Tags.case_id == case_id, Tags.name == tag)
        link = Taggings.tag_id == matching.scalar_subquery()
        known = is_storable(tag, "tags", "name")
        yield exists().where(Taggings.exhibit_id == Exhibits.id, link) if known else false()


def exhibits_not_found(ids: list[int]) -> NotFoundError:
    """Return the error for exhibits that the tenant does not have, with the first 20 ids."""
    return NotFoundError(f"You have no exhibits with these ids: {format_ids(ids)}.")
