"""Somewhere to look at what is committed; a test that needs no more than this imports nothing of the application."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Queried(Protocol):
    """Somewhere that statements are sent to, each in a transaction of its own."""

    def query(self, statement: str, **values: Any) -> Sequence[Any]:
        """The statement's rows."""
        ...
