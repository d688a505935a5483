"""Families of documents within a production, by the Bates numbers of that production.

A parent that is not part of the production is ignored: its numbers, if it has any, belong to another production.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class FamilyMember(NamedTuple):
    """A document: its control number, its parent's control number if any, its first and last Bates number."""

    control_number: str
    parent: str | None
    begin: str
    end: str


class Family(NamedTuple):
    """The first and last Bates number of a document's family, and the first of its parent; blank for the root."""

    begin: str
    end: str
    parent: str


NO_FAMILY = Family("", "", "")


def find_families(members: Sequence[FamilyMember]) -> dict[str, Family]:
    """Return the family of each document that has one; `members` are in the order of their numbers.

    Documents whose parents form a cycle are one family.
    """
    begins = {member.control_number: member.begin for member in members}
    parents = {each.control_number: each.parent for each in members if each.parent in begins}
    roots: dict[str, str] = {}
    for member in members:
        _find_root(member.control_number, parents, roots)
    sizes = Counter(roots.values())
    first: dict[str, str] = {}
    last: dict[str, str] = {}
    for member in members:
        first.setdefault(roots[member.control_number], member.begin)
        last[roots[member.control_number]] = member.end
    return {
        number: Family(first[root], last[root], begins[parents[number] or ""] if number in parents else "")
        for number, root in roots.items()
        if sizes[root] > 1
    }


def _find_root(start: str, parents: Mapping[str, str | None], roots: dict[str, str]) -> None:
    """Follow the parents of `start` and store the root of each document on the path; a cycle's root is its minimum."""
    path: dict[str, None] = {}
    number: str | None = start
    while number is not None and number not in roots and number not in path:
        path[number] = None
        number = parents.get(number)
    if number is None:
        root = next(reversed(path))
    elif number in roots:
        root = roots[number]
    else:
        numbers = list(path)
        root = min(numbers[numbers.index(number) :])
    roots.update(dict.fromkeys(path, root))


class FamilyOrder(NamedTuple):
    """The place of a document among others: its family, how far it is below the root, and its control number."""

    root: str
    depth: int
    control_number: str


def order_families(parents: Mapping[str, str | None]) -> dict[str, FamilyOrder]:
    """Return the place of each document; sorted by it, families stand together, each parent before its children.

    `parents` holds the parent of each document by control number, also of documents outside of the production. A parent
    that is not a document is a root. In a cycle the lowest control number is the root.
    """
    known = {number: parent for number, parent in parents.items() if parent}
    places: dict[str, FamilyOrder] = {}
    for number in parents:
        _place(number, known, places)
    return places


def _place(start: str, parents: Mapping[str, str], places: dict[str, FamilyOrder]) -> None:
    """Store the places of `start` and of everything above it."""
    path: dict[str, None] = {}
    number: str | None = start
    while number is not None and number not in places and number not in path:
        path[number] = None
        number = parents.get(number)
    above = list(path)
    if number is not None and number not in places:
        begin = above.index(number)
        above, cycle = above[:begin], above[begin:]
        at = cycle.index(min(cycle))
        _stack([*cycle[at + 1 :], *cycle[:at], cycle[at]], None, places)
    _stack(above, places[number] if number is not None else None, places)


def _stack(path: Sequence[str], above: FamilyOrder | None, places: dict[str, FamilyOrder]) -> None:
    """Store the places of a path from a document upwards; the last one is below `above`, or is the root."""
    for number in reversed(path):
        above = FamilyOrder(above.root, above.depth + 1, number) if above else FamilyOrder(number, 0, number)
        places[number] = above
