"""Choose the spelling of a custodian or tag when the database collates several spellings as one name.

Guaranteed: the choice depends on the file alone, not on the order in which its chunks were written. A name that this
import created takes the spelling of its lowest line; a name that the case had before keeps its spelling.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple


class NameOccurrence(NamedTuple):
    """A spelling in the file, the row that the database has for it, and the lowest line that has the spelling."""

    kind: str
    id: int
    stored_name: str
    created_by: int | None
    stored_line: int | None
    spelling: str
    first_line: int
    column: str


class Correction(NamedTuple):
    """The name that a row of this import must have, and the first line of that name."""

    id: int
    name: str
    line_no: int


class MergedName(NamedTuple):
    """A spelling that was not kept, the spelling that was, and the lowest line that has the former."""

    spelling: str
    kept: str
    line_no: int
    column: str


def resolve_names(occurrences: Iterable[NameOccurrence], import_id: int) -> tuple[list[Correction], list[MergedName]]:
    """Return the corrections, and the merged spellings to warn about: the former by id, the latter by line."""
    corrections: list[Correction] = []
    merged: list[MergedName] = []
    ordered = sorted(occurrences, key=lambda each: (each.id, each.first_line, each.spelling))
    for _, group in groupby(ordered, key=lambda each: each.id):
        spellings = list(group)
        first = spellings[0]
        kept = first.stored_name
        if first.created_by == import_id:
            kept = first.spelling
            if (first.stored_name, first.stored_line) != (kept, first.first_line):
                corrections.append(Correction(first.id, kept, first.first_line))
        merged += [
            MergedName(each.spelling, kept, each.first_line, each.column) for each in spellings if each.spelling != kept
        ]
    merged.sort(key=lambda name: (name.line_no, name.spelling))
    return sorted(corrections), merged
