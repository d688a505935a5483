"""Fold ids and names to forms that are equal for those that are easily mistaken for each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import combining, normalize

_PADDING = re.compile(r"(?<![0-9])0+(?=[0-9])")
# What `str.strip` removes at the ends of an id.
_EDGES = re.compile(r"[\x00-\x09\x0b-\x1f]|^ | $", re.MULTILINE)


def fold_id(control_number: str) -> str:
    """Return an id without case, spaces around it and zero padding: A-001, a-1 and A-01 are equal."""
    text = normalize("NFKC", control_number).strip().casefold()
    return _PADDING.sub("", text)


def fold_ids(control_numbers: Sequence[str]) -> list[str]:
    """Return `fold_id` of each, at once; the ids have no line feed."""
    text = "\n".join(control_numbers)
    if not control_numbers or not text.isascii() or _EDGES.search(text):
        return list(map(fold_id, control_numbers))
    return _PADDING.sub("", text.lower()).split("\n")


def fold_person(name: str) -> str:
    """Return the name of a person or place without case, accents, spaces and punctuation, the last name at the end.

    "Last, First" is "First Last"; a name with several commas keeps its order.
    """
    last, comma, first = name.partition(",")
    ordered = f"{first} {last}" if comma and first.strip() and last.strip() and "," not in first else name
    return _fold_part(ordered)


def fold_tag(name: str) -> str:
    r"""Return the name of a tag without case, accents, spaces and punctuation; levels as in `Hot\Really Hot` stay."""
    return "\\".join(map(_fold_part, name.split("\\")))


def _fold_part(text: str) -> str:
    folded = normalize("NFKD", normalize("NFKC", text).casefold())
    letters = "".join(character for character in folded if character.isalnum() and not combining(character))
    # A name of signs alone is compared by them.
    return letters or "".join(folded.split())
