"""Find ids of a case that differ from an id as people and programs change them: in case, zeros, spaces, unseen signs.

Guaranteed: two ids with the same form of `fold_id` differ in nothing else. Not guaranteed: that `list_spellings` has
every id with the same form; it has those that one change makes, and lower or upper case with other zeros.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from unicodedata import normalize

# The longest number for which zeros are tried, and what programs leave at the ends of an id.
MAX_DIGITS = 10
_LEFT_AT_END = ("\xa0", "\u200b", "\ufeff", "\u200e")
# White space and characters that cannot be seen; controls inside of an id are another id.
_UNSEEN = re.compile(r"[\s\x00-\x1f\x7f\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+")
_PADDING = re.compile(r"(?<![0-9])0+(?=[0-9])")
_NUMBER = re.compile(r"[0-9]+")
_BORDER = re.compile(r"(?<=[A-Za-z])(?=[0-9])")
_SLOW = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


def fold_id(control_number: str) -> str:
    """Return an id without case, spaces, unseen characters and zero padding: A-001, a-1 and A-01 are equal."""
    text = _UNSEEN.sub("", normalize("NFKC", control_number)).casefold()
    return _PADDING.sub("", text)


def fold_ids(control_numbers: Sequence[str]) -> list[str]:
    """Return `fold_id` of each, at once; the ids have no line feed."""
    text = "\n".join(control_numbers)
    if not control_numbers or not text.isascii() or _SLOW.search(text):
        return list(map(fold_id, control_numbers))
    return _PADDING.sub("", text.lower().replace(" ", "")).split("\n")


def list_spellings(control_number: str) -> list[str]:
    """Return other ids with the same form that a case may have, without the id itself."""
    plain = _UNSEEN.sub("", normalize("NFKC", control_number))
    written = dict.fromkeys((plain, plain.upper(), plain.lower(), plain.capitalize()))
    found = dict.fromkeys(written)
    for text in (plain, plain.upper(), plain.lower()):
        found |= dict.fromkeys(_list_paddings(text))
    found |= dict.fromkeys(f"{control_number}{sign}" for sign in _LEFT_AT_END)
    found |= dict.fromkeys((_BORDER.sub(" ", plain, count=1), f"{_LEFT_AT_END[0]}{control_number}"))
    found.pop(control_number, None)
    return list(found)


def _list_paddings(text: str) -> Iterator[str]:
    """Yield the text with its last number in every width."""
    number = next(reversed(list(_NUMBER.finditer(text))), None)
    if number:
        digits = number[0].lstrip("0") or "0"
        for width in range(len(digits), MAX_DIGITS + 1):
            yield f"{text[: number.start()]}{digits.zfill(width)}{text[number.end() :]}"


def describe_similar(control_number: str, existing: str) -> str:
    """Return what is said of an id that is not in the case and the one that is; texts as they are shown."""
    difference = "which differs only in case, zeros before a number, spaces or characters that cannot be seen"
    return f"The case has {existing}, {difference}, and not {control_number}"
