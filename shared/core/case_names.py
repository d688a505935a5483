"""Find the cases whose names a given name may be a misspelling of.

Guaranteed: a name is never similar to itself; names that differ only in case, width, spaces or punctuation come first.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from difflib import SequenceMatcher

# Of two names of ten characters, one may differ.
_LEAST_RATIO = 0.85
# Python converts no longer numbers.
_MAX_DIGITS = 4_000


def find_similar_names(name: str, names: Iterable[str], limit: int = 5) -> list[str]:
    """Return up to `limit` of the names that resemble `name`, the most similar first.

    Names are similar if they are equal after NFKC and case folding with punctuation read as spaces, if one begins with
    all words of the other, or if the matching characters are at least 0.85 of both together. Names that differ in the
    number at their ends only, such as those of a series of cases, are not.
    """
    simple = _simplify(name)
    rated = sorted((-_rate(simple, _simplify(each)), each) for each in set(names) - {name})
    return [each for rating, each in rated if rating < 0][:limit]


def _simplify(name: str) -> str:
    """Return the words of a name, in lower case, with single spaces between them."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join("".join(each if each.isalnum() else " " for each in folded).split())


def _rate(name: str, other: str) -> float:
    """Return how similar two simplified names are: 0 if they are not, at most 2."""
    if name.replace(" ", "") == other.replace(" ", ""):
        return 2
    if _is_of_one_series(name, other):
        return 0
    words, others = name.split(), other.split()
    shared = min(len(words), len(others))
    if shared and words[:shared] == others[:shared]:
        return 1
    matcher = SequenceMatcher(None, name, other, autojunk=False)
    possible = matcher.real_quick_ratio() >= _LEAST_RATIO and matcher.quick_ratio() >= _LEAST_RATIO
    ratio = matcher.ratio() if possible else 0
    return ratio if ratio >= _LEAST_RATIO else 0


def _is_of_one_series(name: str, other: str) -> bool:
    """Return whether two simplified names have the same words and then other numbers; numbers alone are mistyped."""
    (words, number), (others, second) = _split_number(name), _split_number(other)
    is_named = any(map(str.isalpha, words))
    return is_named and words == others and bool(number and second) and int(number) != int(second)


def _split_number(name: str) -> tuple[str, str]:
    """Return a simplified name without spaces and without the number at its end, and that number."""
    words = name.rstrip("0123456789")
    return words.replace(" ", ""), name[len(words) :][:_MAX_DIGITS]
