"""Texts of load files for a terminal."""

from __future__ import annotations


def make_printable(text: str) -> str:
    """Return a line for a terminal, with U+FFFD for characters that are not printable."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def shorten_printable(text: str, characters: int) -> str:
    """Return a text of a load file for one line of a terminal, with U+FFFD for characters that are not printable."""
    # The other party wrote the file: its texts must not control the terminal.
    whole = make_printable(" ".join(text.split()))
    return whole if len(whole) <= characters else f"{whole[: characters - 1]}…"
