"""How long the rest of an upload takes, by what was sent in the last seconds."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

_WINDOW_S, _LEAST_S = 15.0, 2.0


class Meter:
    """Gets the bytes that are done, again and again."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._samples: deque[tuple[float, int]] = deque()

    def restart(self) -> None:
        """Drop what was before a pause."""
        self._samples.clear()

    def measure(self, done: int) -> float | None:
        """Return the bytes a second; None while too little is known."""
        now = self._clock()
        self._samples.append((now, done))
        while self._samples[0][0] < now - _WINDOW_S:
            self._samples.popleft()
        at, before = self._samples[0]
        return (done - before) / (now - at) if now - at >= _LEAST_S and done > before else None


def estimate_seconds(rate: float | None, left: int) -> int | None:
    """Return the seconds that so many bytes take at this rate; None without one."""
    return math.ceil(left / rate) if rate else None
