"""What --json prints where a command of this package fails."""

from __future__ import annotations

from typing import Any

# Commands that list have an empty list beside the error.
_LISTS = ("cases", "imports", "documents", "history", "custodians", "tags")
COMMANDS = (*_LISTS, "show", "open", "tag", "untag")


def format_error(command: str, error: str) -> dict[str, Any]:
    """Return the object with the error."""
    return {**({command: []} if command in _LISTS else {}), "error": error}
