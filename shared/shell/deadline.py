"""The deadline of the current Lambda invocation.

A Lambda function that is killed by its timeout runs no `finally` block. Code that retries or waits therefore checks
`seconds_left` and stops in time to roll back and report.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

MARGIN_S = 2.0
_ends_at: ContextVar[float | None] = ContextVar("deadline", default=None)


class LambdaContextLike(Protocol):
    """The part of a Lambda context that this module uses."""

    def get_remaining_time_in_millis(self) -> int:
        """Return the milliseconds until the function is killed."""
        ...


@contextmanager
def invocation_deadline(context: LambdaContextLike | None) -> Iterator[None]:
    """Set the deadline for the block to `MARGIN_S` seconds before the function is killed; none without a context."""
    left_s = None if context is None else context.get_remaining_time_in_millis() / 1000 - MARGIN_S
    token = _ends_at.set(None if left_s is None else time.monotonic() + left_s)
    try:
        yield
    finally:
        _ends_at.reset(token)


def build_deadline_check(margin_s: float) -> Callable[[], bool]:
    """Return a function that tells whether less than `margin_s`, or than a tenth of the seconds left now, is left."""
    margin = min(margin_s, seconds_left() / 10)
    return lambda: seconds_left() < margin


def seconds_left() -> float:
    """Return the seconds until the deadline; infinite outside of an invocation."""
    ends_at = _ends_at.get()
    return float("inf") if ends_at is None else ends_at - time.monotonic()
