"""Find the families of the selected documents, and which of them have members that are not selected.

Guaranteed: parents and children are followed to the ends of a family, also through documents that are not selected, and
the number of statements depends on the depth of the families and not on their number. Parents are those of
`shell.families`, whether exhibits or rows of load files state them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy.orm import Session

from core.families.resolution import Document
from core.productions.families import FamilyOrder, order_families
from shell.families.reading import find_children, find_parents, has_statements, read_documents


class Families(NamedTuple):
    """The place of each document by control number, the roots of families of which members are not selected, parents.

    `parents` are those of all members, by control number; `stated`: some may follow from what rows state.
    """

    places: dict[str, FamilyOrder]
    incomplete_roots: set[str]
    parents: dict[str, str | None]
    stated: bool


class _Case:
    """The documents of a case; without statements in it, their own columns say all of their parents."""

    def __init__(self, reading: Session, case_id: int) -> None:
        self._reading, self._case_id = reading, case_id
        self.has_statements = has_statements(reading, case_id)

    def read(self, column: str, values: Iterable[str | int]) -> list[Document]:
        """Return the documents whose column has one of the values."""
        return list(read_documents(self._reading, self._case_id, column, set(values)))

    def find_parents(self, documents: Sequence[Document]) -> dict[str, str | None]:
        """Return the parent of each document by control number."""
        if not self.has_statements:
            return {each.control_number: each.parent for each in documents}
        found = find_parents(self._reading, self._case_id, documents)
        return {each.control_number: found[each.id].control_number if each.id in found else None for each in documents}

    def find_children(self, parents: Sequence[Document]) -> list[tuple[Document, str | None]]:
        """Return the documents whose parent is one of these, each with its parent."""
        if not self.has_statements:
            children = self.read("parent_control_number", (each.control_number for each in parents))
            return [(each, each.parent) for each in children]
        found = find_children(self._reading, self._case_id, parents)
        return [(each, parent.control_number) for each, parent in found]


def find_all_members(reading: Session, case_id: int, selected: Mapping[int, str]) -> Families:
    """Return the families of the selected documents, given as their control numbers by id."""
    case = _Case(reading, case_id)
    known = {each.control_number: each for each in case.read("id", selected)}
    parents = case.find_parents(list(known.values()))
    above = _list_unknown(parents.values(), known)
    while above:
        found = case.read("control_number", above)
        known.update((each.control_number, each) for each in found)
        added = case.find_parents(found)
        parents.update(added)
        above = _list_unknown(added.values(), known)
    below = list(known.values())
    while below:
        children = [(each, parent) for each, parent in case.find_children(below) if each.control_number not in known]
        known.update((each.control_number, each) for each, _ in children)
        parents.update((each.control_number, parent) for each, parent in children)
        below = [each for each, _ in children]
    places = order_families(parents)
    roots = {places[number].root for number in parents.keys() - set(selected.values())}
    return Families(places, roots, parents, case.has_statements)


def _list_unknown(numbers: Iterable[str | None], known: Mapping[str, Document]) -> list[str]:
    return sorted({number for number in numbers if number and number not in known})
