"""The phases of a purge, in their order."""

from __future__ import annotations

from enum import StrEnum


class PurgePhase(StrEnum):
    """What a purge does next.

    Work in progress is fenced, and productions past their pivot end. Then objects are deleted, and all rows but those
    that other rows are found by. Once no signed URL is valid and no worker of before runs, both are repeated, with
    these rows. The last look, days later, deletes what it finds and is repeated until it finds nothing.
    """

    FENCE = "fence"
    PRODUCTIONS = "productions"
    PREFIXES = "prefixes"
    OBJECTS = "objects"
    ROWS = "rows"
    OBJECTS_AGAIN = "objects_again"
    ROWS_AGAIN = "rows_again"
    LAST_LOOK = "last_look"
    END = "end"

    @property
    def next(self) -> PurgePhase:
        """The phase after this one; END has none, and is its own."""
        phases = list(PurgePhase)
        return phases[min(phases.index(self) + 1, len(phases) - 1)]
