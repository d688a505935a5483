"""Fold names to forms that are equal for those that are easily mistaken for each other."""

from __future__ import annotations

from unicodedata import combining, normalize


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
