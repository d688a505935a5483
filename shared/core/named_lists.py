"""Lists of ids and names in messages."""

from __future__ import annotations

from collections.abc import Sequence

MAX_IN_MESSAGE = 20


def format_ids(ids: Sequence[int]) -> str:
    """Return the first 20 ids for a message, and how many more there are."""
    return format_names(list(map(str, ids)), len(ids))


def format_names(names: Sequence[str], count: int) -> str:
    """Return the first 20 names for a message, and how many more of `count` there are."""
    named = names[:MAX_IN_MESSAGE]
    more = f" and {count - len(named)} more" if count > len(named) else ""
    return ", ".join(named) + more
