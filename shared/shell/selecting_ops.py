"""Which exhibits a production has: those that were named, or those of its case that match a query when it is made.

Guaranteed: in the byte order of their control numbers; none of another case. Read in parts, without locks: exhibits are
never removed, so that what was read is there when its numbers are given out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from core.bates import Numbering, page_count
from core.contracts.productions import MAX_DOCUMENTS, ExhibitSelection, NewProduction
from core.errors import InvalidInputError, NothingToProduceError
from shell.exhibit_query_ops import matching, not_found
from shell.tables import Exhibits, Productions
from shell.utils.db_helpers import among, forced
from shell.utils.document_properties import load

PAGE = 2_000


class Selected(NamedTuple):
    """An exhibit that is to be produced, and how many numbers it takes."""

    exhibit_id: int
    control_number: str
    numbers: int


def selection_of(asked: NewProduction) -> str:
    """What was asked for, as it is kept."""
    if asked.exhibit_ids is not None:
        return json.dumps({"ids": sorted(set(asked.exhibit_ids))})
    return json.dumps({"query": (asked.query or ExhibitSelection()).model_dump()})


def count_selected(reading: Session, case_id: int, selection: str) -> int:
    """How many exhibits it has now.

    Raises NotFoundError for ids that the case does not have, NothingToProduceError where it has none, and
    InvalidInputError for more than 100,000.
    """
    asked = json.loads(selection)
    if "ids" in asked:
        wanted: list[int] = asked["ids"]
        found = set(reading.scalars(_where(select(Exhibits.id), case_id, asked)))
        if missing := [each for each in wanted if each not in found]:
            raise not_found(missing)
        return len(wanted)
    count = int(reading.execute(_where(select(func.count()).select_from(Exhibits), case_id, asked)).scalar_one())
    refuse_count(count)
    return count


def refuse_count(count: int) -> None:
    """Raise NothingToProduceError for none, InvalidInputError for more than a production can have."""
    if not count:
        raise NothingToProduceError()
    if count > MAX_DOCUMENTS:
        raise InvalidInputError(f"{count} exhibits match; a production has at most {MAX_DOCUMENTS}: narrow the query")


def selected(reading: Session, production: Productions) -> list[Selected]:
    """The production's exhibits as they are now, with the numbers that each takes.

    Raises what `count_selected` raises, and InvalidInputError for a page count that is no number, where pages count.
    """
    count_selected(reading, production.case_id, production.selection)
    by_page = production.numbering == Numbering.PAGE
    exhibits = [_sized(row, by_page) for row in _rows(reading, production.case_id, production.selection, by_page)]
    refuse_count(len(exhibits))
    return exhibits


def _sized(row: Any, by_page: bool) -> Selected:
    if not by_page or not row.document_properties:
        return Selected(row.id, row.control_number, 1)
    return Selected(row.id, row.control_number, page_count(row.control_number, load(row.document_properties)))


def _rows(reading: Session, case_id: int, selection: str, by_page: bool) -> Iterator[Any]:
    columns: list[Any] = [Exhibits.id, Exhibits.control_number, *([Exhibits.document_properties] if by_page else [])]
    asked = json.loads(selection)
    wanted: Select[Any] = _where(select(*columns), case_id, asked).order_by(Exhibits.control_number).limit(PAGE)
    if "query" in asked:
        wanted = forced(wanted, Exhibits, "uq_exhibits_control_number")
    rows: Sequence[Any] = reading.execute(wanted).all()
    while rows:
        yield from rows
        rows = reading.execute(wanted.where(Exhibits.control_number > rows[-1].control_number)).all()


def _where(wanted: Select[Any], case_id: int, asked: dict[str, Any]) -> Select[Any]:
    wanted = wanted.where(Exhibits.case_id == case_id)
    if "ids" in asked:
        return wanted.where(among(Exhibits.id, asked["ids"]))
    query = asked["query"]
    return wanted.where(*matching(case_id, query["custodian"], query["tag"], None))
