"""How long a request is repeated, and how long it waits in between."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

_LONGEST_S = 16.0


@dataclass(frozen=True)
class Patience:
    """For how many seconds after its first failure a request is repeated.

    `network_s` counts where no answer came, `server_s` where the server asks for a repetition; a database that resumes
    after a pause takes half a minute.
    """

    network_s: float = 8
    server_s: float = 60
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic


class Waiting:
    """The waits of one request: 1, 2, 4 s and so on, or what the server says if it is longer, with a random part."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._first: float | None = None
        self._attempts = 0

    def wait(self, error: Exception, limit_s: float, least_s: float | None = None) -> float:
        """Sleep before the next attempt, and return for how long; raise `error` if `limit_s` would be over."""
        now = self._patience.clock()
        self._first = now if self._first is None else self._first
        # A server that says 0 again and again must not get a request after the other.
        delay = max(min(2.0**self._attempts, _LONGEST_S), least_s or 0)
        # Not for secrets: many clients that failed at once must not come again at once.
        delay += random.random() * max(delay, 1) / 2  # noqa: S311
        if now + delay > self._first + limit_s:
            raise error
        self._attempts += 1
        self._patience.sleep(delay)
        return delay
