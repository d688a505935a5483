"""Which spelling of a custodian or tag is kept when the database holds several as one name.

Guaranteed: the answer depends on the file alone, not on the order in which its chunks were written. A name that this
import created takes the spelling of its lowest line; one that the case had before keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple


class Sighting(NamedTuple):
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
    """What a row of this import must be called, and where it was seen first."""

    id: int
    name: str
    line_no: int


class MergedName(NamedTuple):
    """A spelling that was not kept, and the lowest line that has it."""

    spelling: str
    kept: str
    line_no: int
    column: str


def settle_names(sightings: Iterable[Sighting], import_id: int) -> tuple[list[Correction], list[MergedName]]:
    """The corrections to make, and the spellings to warn of, both in the order of their lines."""
    corrections: list[Correction] = []
    merged: list[MergedName] = []
    ordered = sorted(sightings, key=lambda s: (s.id, s.first_line, s.spelling))
    for _, group in groupby(ordered, key=lambda s: s.id):
        spellings = list(group)
        first = spellings[0]
        kept = first.stored_name
        if first.created_by == import_id:
            kept = first.spelling
            if (first.stored_name, first.stored_line) != (kept, first.first_line):
                corrections.append(Correction(first.id, kept, first.first_line))
        merged += [MergedName(s.spelling, kept, s.first_line, s.column) for s in spellings if s.spelling != kept]
    merged.sort(key=lambda name: (name.line_no, name.spelling))
    return sorted(corrections), merged
