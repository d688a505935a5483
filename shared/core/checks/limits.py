"""How much of a file the checks hold in memory before they use the disk."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """The most that is held at once; the findings do not depend on it.

    `lines` of each of three sorts, each also with at most MAX_CHARACTERS; `entries` that wait for a range of the case;
    `families` that have begun and not ended; `parents` that are looked up in the case together.
    """

    lines: int = 50_000
    entries: int = 10_000
    families: int = 10_000
    parents: int = 10_000


DEFAULT_LIMITS = Limits()
