"""Lists of ids in messages."""

from __future__ import annotations

from collections.abc import Sequence

MAX_IDS_IN_MESSAGE = 20


def format_ids(ids: Sequence[int]) -> str:
    """Return the first 20 ids for a message, and how many more there are."""
    more = f" and {len(ids) - MAX_IDS_IN_MESSAGE} more" if len(ids) > MAX_IDS_IN_MESSAGE else ""
    return ", ".join(map(str, ids[:MAX_IDS_IN_MESSAGE])) + more
