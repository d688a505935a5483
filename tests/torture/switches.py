"""The protections of the application that a test build can be without, each by its name."""

from __future__ import annotations

from collections.abc import Callable

SWITCHES: dict[str, Callable[[], None]] = {}


def turn_off(name: str) -> None:
    """Make this process one without that protection; raises KeyError for a name that there is not."""
    SWITCHES[name]()
