"""Find the families of the selected documents, and which of them have members that are not selected.

Guaranteed: parents and children are followed to the ends of a family, also through documents that are not selected, and
the number of statements depends on the depth of the families and not on their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.productions.families import FamilyOrder, order_families
from shell.tables.exhibits import Exhibits
from shell.utils.db_helpers import force_index, is_in

_PAGE_SIZE = 2_000


class Families(NamedTuple):
    """The place of each document by control number, and the roots of families of which members are not selected."""

    places: dict[str, FamilyOrder]
    incomplete_roots: set[str]


def find_all_members(reading: Session, case_id: int, selected: Mapping[str, str | None]) -> Families:
    """Return the families of the selected documents; `selected` holds their parents by control number."""
    parents = dict(selected)
    above = _list_unknown(parents.values(), parents)
    while above:
        found = dict(_read(reading, case_id, Exhibits.control_number, "uq_exhibits_control_number", above))
        parents.update(found)
        above = _list_unknown(found.values(), parents)
    below = sorted(parents)
    while below:
        children = dict(_read(reading, case_id, Exhibits.parent_control_number, "ix_exhibits_parent", below))
        below = sorted(children.keys() - parents.keys())
        parents.update({number: children[number] for number in below})
    places = order_families(parents)
    return Families(places, {places[number].root for number in parents.keys() - selected.keys()})


def _list_unknown(numbers: Any, known: Mapping[str, str | None]) -> list[str]:
    return sorted({number for number in numbers if number and number not in known})


def _read(
    reading: Session, case_id: int, column: Any, index: str, values: Sequence[str]
) -> Iterator[tuple[str, str | None]]:
    """Yield control number and parent of the case's exhibits whose column has one of the values."""
    for start in range(0, len(values), _PAGE_SIZE):
        statement = select(Exhibits.control_number, Exhibits.parent_control_number)
        statement = force_index(statement, Exhibits, index).where(Exhibits.case_id == case_id)
        page = statement.where(is_in(column, values[start : start + _PAGE_SIZE]))
        yield from ((row.control_number, row.parent_control_number) for row in reading.execute(page))
