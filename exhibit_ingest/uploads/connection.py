"""Whether there is a connection to the servers of a stack.

Lost with the first request that gets no answer; then one request at a time tries it again, after 1, 3, 10 and then
every 30 seconds, each with a random part. While bytes of that one move, the others are sent too: a large part takes
minutes. Only an answer ends what people see and what the patience counts: a server can take bytes and never answer.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import NamedTuple, cast

# Bytes that wait in buffers of the system move for an instant; after these seconds, nothing does.
_STILL_S = 3.0


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
        # Since when no answer came, although requests were sent; bytes that are sent prove nothing.
        self._unanswered_at: float | None = None
        self._moved_at = clock()
        self._is_lost, self._probe = False, cast("object | None", None)
        self._probes, self._probe_at = 0, 0.0

    def may_start(self, request: object) -> bool:
        """Return whether a request may start now; while the connection is lost, it is then the one that tries it."""
        if not self._is_lost:
            return True
        if self._probe is not None or self._clock() < self._probe_at:
            return False
        self._probe = request
        return True

    def lose(self, request: object) -> None:
        """Note that a request got no answer."""
        if self._is_lost and self._probe is not request:
            return
        now = self._clock()
        self._unanswered_at = now if self._unanswered_at is None else self._unanswered_at
        self._is_lost, self._probe, self._probe_at = True, None, now + self._pace.choose_delay(self._probes)
        self._probes += 1

    def begin(self) -> None:
        """Note that a request is sent: what was still before does not count."""
        self._moved_at = self._clock()

    def move(self, request: object) -> None:
        """Note that bytes of a request were sent: if it tries the connection, others may start meanwhile."""
        self._moved_at = self._clock()
        if self._probe is request:
            self._is_lost, self._probe = False, None

    def find(self) -> None:
        """Note an answer."""
        self._moved_at = self._clock()
        self._is_lost, self._probe, self._unanswered_at, self._probes = False, None, None, 0

    @property
    def lost_s(self) -> float:
        """For how many seconds no answer came, once a request has failed for that; 0 while bytes move."""
        if self._unanswered_at is None or (not self._is_lost and self.still_s < _STILL_S):
            return 0.0
        return self._clock() - self._unanswered_at

    @property
    def still_s(self) -> float:
        """For how many seconds nothing moved, neither a byte nor an answer."""
        return self._clock() - self._moved_at

    @property
    def pause_s(self) -> float | None:
        """After how many seconds a request may try the connection; None if that does not depend on time."""
        if not self._is_lost or self._probe is not None:
            return None
        return max(self._probe_at - self._clock(), 0.0)

    @property
    def is_given_up(self) -> bool:
        """Whether there was no answer for longer than the patience."""
        return self._unanswered_at is not None and self._clock() - self._unanswered_at > self._pace.patience_s
