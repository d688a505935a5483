"""How long this invocation may still take; nothing here waits.

A Lambda that is killed by its time-out runs no `finally`: whoever retries stops early enough to roll back and report.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

MARGIN_S = 2.0
_ends_at: ContextVar[float | None] = ContextVar("deadline", default=None)


class LambdaContextLike(Protocol):
    """What of a Lambda context is used here."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the function is killed."""
        ...


@contextmanager
def invocation_deadline(context: LambdaContextLike | None) -> Iterator[None]:
    """For the block, `seconds_left` counts down to `MARGIN_S` before the function is killed."""
    left = None if context is None else context.get_remaining_time_in_millis() / 1000 - MARGIN_S
    token = _ends_at.set(None if left is None else time.monotonic() + left)
    try:
        yield
    finally:
        _ends_at.reset(token)


def seconds_left() -> float:
    """Seconds that may still be spent; infinite outside of an invocation."""
    ends_at = _ends_at.get()
    return float("inf") if ends_at is None else ends_at - time.monotonic()
