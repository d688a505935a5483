"""Find the cases whose names a given name may be a misspelling of.

Guaranteed: a name is never similar to itself; names that differ only in case, width, spaces or punctuation come first.
Not guaranteed: that the order of characters is compared in more than MOST_COMPARED names. These are the ones with the
most characters in common: to compare a name with 20,000 long ones in full takes longer than a request may.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from core.errors import NotFoundError

# Of two names of ten characters, one may differ.
_LEAST_RATIO = 0.85
MOST_COMPARED = 500
_EQUAL, _BEGINS = 3, 2
_MOST_DIGITS = 99


class UnknownCaseError(NotFoundError):
    """You have no case with this name, and the request must not create it.

    `similar` are the ids and names of cases that the name may be a misspelling of.
    """

    def __init__(self, similar: Sequence[tuple[int, str]]) -> None:
        advice = "Use a name of `similar`, or send" if similar else "Correct the name, or send"
        super().__init__(f"You have no case with this name. {advice} the request without createCase: false.")
        self.similar = tuple(similar)


def find_similar_names(name: str, names: Iterable[str], limit: int = 5) -> list[str]:
    """Return up to `limit` of the names that resemble `name`, the most similar first.

    Names are similar if they are equal after NFKC and case folding with punctuation read as spaces, if one begins with
    all words of the other, or if the matching characters are at least 0.85 of both together. The last does not hold
    for names that end in different numbers: `Case 12` and `Case 13` are two cases of one series, and `Case 00` is a
    third.
    """
    simple = _simplify(name)
    matcher = SequenceMatcher(None, "", simple, autojunk=False)
    simplified = {each: _simplify(each) for each in set(names) - {name}}
    bounds = sorted((-_find_bound(matcher, simple, other), each) for each, other in simplified.items())
    likely = [(bound, each) for bound, each in bounds[:MOST_COMPARED] if bound]
    rated = sorted((bound if bound < -1 else -_rate(simple, simplified[each]), each) for bound, each in likely)
    return [each for rating, each in rated if rating][:limit]


def _simplify(name: str) -> str:
    """Return the words of a name, in lower case, with single spaces between them."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join("".join(each if each.isalnum() else " " for each in folded).split())


def _find_bound(matcher: SequenceMatcher[str], name: str, other: str) -> float:
    """Return how similar two simplified names can be at most: 0 if they are not, above 1 if that is certain.

    The matcher has the first name as its second sequence, whose characters it counts once.
    """
    if name.replace(" ", "") == other.replace(" ", ""):
        return _EQUAL
    words, others = name.split(), other.split()
    shared = min(len(words), len(others))
    if shared and words[:shared] == others[:shared]:
        return _BEGINS
    if _end_in_different_numbers(name, other):
        return 0
    matcher.set_seq1(other)
    bound = matcher.quick_ratio() if matcher.real_quick_ratio() >= _LEAST_RATIO else 0
    return bound if bound >= _LEAST_RATIO else 0


def _rate(name: str, other: str) -> float:
    ratio = SequenceMatcher(None, name, other, autojunk=False).ratio()
    return ratio if ratio >= _LEAST_RATIO else 0


def _end_in_different_numbers(name: str, other: str) -> bool:
    first, second = map(_find_end_number, (name, other))
    return first is not None and second is not None and first != second


def _find_end_number(name: str) -> int | None:
    """Return the number that a name ends in, in the digits of any script."""
    start = len(name)
    while start and name[start - 1].isdecimal() and len(name) - start < _MOST_DIGITS:
        start -= 1
    return int(name[start:]) if start < len(name) else None
