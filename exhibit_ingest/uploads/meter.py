"""How long the rest of an upload takes, by what was sent in the last seconds; and times and bytes for people."""

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


def format_time(seconds: float) -> str:
    """Return a time for people, such as `4 min 10 s`."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 120:
        return f"{minutes / 60:.1f} h"
    return f"{minutes} min" if minutes >= 10 else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def format_bytes(size: float) -> str:
    """Return a number of bytes for people, in powers of ten as `--limit-rate` has them, such as `1.2 GB`."""
    if size < 1_000:
        return f"{size:.0f} B"
    for unit in ("kB", "MB", "GB", "TB"):
        size /= 1_000
        if size < 999.5:
            return f"{size:.1f} {unit}" if size < 10 else f"{size:.0f} {unit}"
    return f"{size:,.0f} TB"
