"""Families of documents within a production: who belongs to whom, by the Bates numbers that they have there.

A parent that is not produced is as good as none: its numbers, if it has any, are another production's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Member(NamedTuple):
    """A document, its parent's control number if it has one, and its first and last Bates number."""

    control_number: str
    parent: str | None
    begin: str
    end: str


class Family(NamedTuple):
    """The first and last Bates number of a document's family, and its parent's first; blank at the top."""

    begin: str
    end: str
    parent: str


ALONE = Family("", "", "")


def families(members: Sequence[Member]) -> dict[str, Family]:
    """The family of each document that has one; `members` in the order of their numbers.

    A circle of parents is one family.
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
    """Go up from `start`, and keep what was found for all on the way; of a circle, the lowest number is the root."""
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
        way = list(path)
        root = min(way[way.index(number) :])
    roots.update(dict.fromkeys(path, root))
