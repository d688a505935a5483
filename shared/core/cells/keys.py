"""Read the ids of documents as people and spreadsheets write them, and judge the characters of ids and names.

Guaranteed: an id is only changed where a spreadsheet has enclosed it, ="00012345"; whatever else looks odd is described
and stays as it is. Not guaranteed: that every character that looks like another one is found.
"""

from __future__ import annotations

import re
import unicodedata

SHOWN_CHARACTERS = 200
# What keeps a spreadsheet from reading an id as a number.
_FORMULA = re.compile(r'="([^"=]*)"')
# What a spreadsheet makes of an id that it has read as a number, or writes before one that it has not.
_NUMBER = re.compile(r"[0-9](?:[.,][0-9]+)?E\+[0-9]+", re.IGNORECASE)
_APOSTROPHE = re.compile("'[0-9]")
_CONTROLS = "\x00-\x1f\x7f-\x9f"
# Spaces that look like the usual one or like nothing, and marks that change the order in which characters are shown.
_UNSEEN = "\xa0\xad\u034f\u061c\u1680\u180e\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\ufeff\ufff9-\ufffb"
# Between letters of some scripts, these two are spelling: they are odd in ids only.
_JOINERS = "\u200c\u200d"
_CONTROL = re.compile(f"[{_CONTROLS}]")
_ODD_IN_NAMES = re.compile(f"[{_CONTROLS}{_UNSEEN}]")
_ODD_IN_KEYS = re.compile(f"[{_UNSEEN}{_JOINERS}\u3000]")
_ODD = re.compile(f"[{_CONTROLS}{_UNSEEN}{_JOINERS}\u3000]")
_ORDER_MARKS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def unwrap_formula(key: str) -> str:
    """Return the text in ="text", without the spaces around it; any other key as it is."""
    found = _FORMULA.fullmatch(key)
    return found[1].strip() if found and found[1].strip() else key


def unwrap_formulas(keys: list[str]) -> list[str]:
    """Return `unwrap_formula` of each."""
    return [unwrap_formula(key) for key in keys] if '="' in "\n".join(keys) else keys


def may_be_odd(text: str) -> bool:
    """Return whether one of the keys that are joined in the text can be odd."""
    return not (text.isascii() and text.isprintable()) or "'" in text or '="' in text or "E+" in text or "e+" in text


def is_odd_key(key: str) -> bool:
    """Return whether a key is enclosed in a formula, has a control character, or is warned of."""
    odd = _CONTROL.search(key) is not None or _ODD_IN_KEYS.search(key) is not None
    return odd or unwrap_formula(key) != key or describe_spreadsheet_key(key) is not None


def is_odd_name(cell: str) -> bool:
    """Return whether a name has a character that cannot be seen."""
    return _ODD_IN_NAMES.search(cell) is not None


def has_order_mark(file_name: str) -> bool:
    """Return whether a file name has a mark that changes the order in which its characters are shown."""
    return _ORDER_MARKS.search(file_name) is not None


def describe_control(key: str) -> str | None:
    """Return why a key is rejected; None if it has no control character."""
    if not _CONTROL.search(key):
        return None
    message = f"The key {show_text(key)} has a control character, with which other programs do not find it"
    return f"{message}. Remove it in the load file."


def describe_unseen(text: str) -> str | None:
    """Return the warning of a key that has characters that cannot be seen; None if it has none."""
    return _describe_unseen(text) if _ODD_IN_KEYS.search(text) else None


def describe_unseen_name(name: str) -> str | None:
    """Return the warning of a name that has characters that cannot be seen; None if it has none."""
    return _describe_unseen(name) if is_odd_name(name) else None


def _describe_unseen(text: str) -> str:
    message = f"The text has characters that cannot be seen, and was stored with them: {show_text(text)}"
    return f"{message}. Without them it is another text: check what other files have."


def describe_spreadsheet_key(key: str) -> str | None:
    """Return the warning of a key as a spreadsheet writes it; None for any other."""
    if _NUMBER.fullmatch(key):
        message = f"The key {show_text(key)} is a number as a spreadsheet shortens it: its digits may be lost"
        return f"{message}. Export the column as text from the source."
    if _APOSTROPHE.match(key):
        message = f"The key {show_text(key)} begins with the apostrophe of a spreadsheet and was stored with it"
        return f"{message}. Remove it in the load file if the document's number has none."
    return None


def describe_unwrapped(cell: str, key: str) -> str:
    """Return the warning of a key that was taken out of a formula."""
    return f"The cell {show_text(cell)} is a formula of a spreadsheet and was read as {show_text(key)}."


def show_text(text: str) -> str:
    """Return the beginning of a text for a message, with names for characters that cannot be seen."""
    shown = _ODD.sub(_name_character, text[:SHOWN_CHARACTERS])
    return f"{shown}..." if len(text) > SHOWN_CHARACTERS else shown


def _name_character(found: re.Match[str]) -> str:
    name = unicodedata.name(found[0], "control character").lower()
    return f"<U+{ord(found[0]):04X} {name}>"
