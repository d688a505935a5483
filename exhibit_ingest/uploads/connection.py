"""Whether there is a connection to the servers of a stack.

Lost with the first request that gets no answer; then one request at a time tries it again, after 1, 3, 10 and then
every 30 seconds, each with a random part, until one is answered.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple


class Pace(NamedTuple):
    """How long to wait before a request is sent again, how often after faults of a server, and how long without any
    answer until the upload ends with what it has.
    """

    delays_s: tuple[float, ...] = (1.0, 3.0, 10.0, 30.0)
    attempts: int = 10
    patience_s: float = 3_600.0

    def choose_delay(self, attempt: int) -> float:
        """Return the seconds before an attempt, from 0, half of them by chance."""
        most = self.delays_s[min(attempt, len(self.delays_s) - 1)]
        return most * random.uniform(0.5, 1)  # noqa: S311 - jitter


class Connection:
    """The callers hold a lock; a request is any object."""

    def __init__(self, pace: Pace, clock: Callable[[], float]) -> None:
        self._pace, self._clock = pace, clock
        self._answered_at = clock()
        self._lost_at: float | None = None
        self._probe: object | None = None
        self._probes, self._probe_at = 0, 0.0

    def may_start(self, request: object) -> bool:
        """Return whether a request may start now; while the connection is lost, it is then the one that tries it."""
        if self._lost_at is None:
            return True
        if self._probe is not None or self._clock() < self._probe_at:
            return False
        self._probe = request
        return True

    def lose(self, request: object) -> None:
        """Note that a request got no answer."""
        if self._lost_at is not None and self._probe is not request:
            return
        now = self._clock()
        self._lost_at = now if self._lost_at is None else self._lost_at
        self._probe, self._probe_at = None, now + self._pace.choose_delay(self._probes)
        self._probes += 1

    def find(self, request: object | None = None) -> None:
        """Note an answer, or with `request` that bytes of it were sent, which counts if it tries the connection."""
        if request is None:
            self._answered_at = self._clock()
        elif self._probe is not request:
            return
        self._lost_at = self._probe = None
        self._probes = 0 if request is None else self._probes

    @property
    def lost_s(self) -> float:
        """For how many seconds it is lost; 0 if it is not."""
        return 0.0 if self._lost_at is None else self._clock() - self._lost_at

    @property
    def pause_s(self) -> float | None:
        """After how many seconds a request may try the connection; None if that does not depend on time."""
        if self._lost_at is None or self._probe is not None:
            return None
        return max(self._probe_at - self._clock(), 0.0)

    @property
    def is_given_up(self) -> bool:
        """Whether there was no answer for longer than the patience."""
        return self._clock() - self._answered_at > self._pace.patience_s
