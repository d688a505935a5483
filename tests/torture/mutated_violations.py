"""A promise that was not kept."""

from __future__ import annotations


class ViolationError(Exception):
    """What was found instead of what is promised."""


def demand(kept: bool, otherwise: str) -> None:
    """Raise ViolationError unless the promise is kept; unlike `assert`, also where Python is told to optimise."""
    if not kept:
        raise ViolationError(otherwise)
