"""A limit of the bytes a second that all requests of an upload send together."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator

_RATE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,3})?)([kmg]?)", re.IGNORECASE)
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
# Pieces are so small that each of the requests sends one every second, and no server takes them for stalled.
_PIECES_PER_SECOND, _LEAST_PIECE = 16, 1_024


def parse_rate(text: str) -> int:
    """Return the bytes a second of a rate such as `20M` (20,000,000), `500k` or `1.5M`. Raises ValueError."""
    found = _RATE.fullmatch(text.strip())
    rate = int(float(found[1]) * _UNITS[found[2].lower()]) if found else 0
    if rate < _LEAST_PIECE:
        raise ValueError(f"{text} is not a rate; write the bytes a second, such as 20M or 500k (at least 2k)")
    return rate


class RateLimit:
    """A token bucket that holds a quarter of a second; `rate` is in bytes a second, None for no limit."""

    def __init__(self, rate: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._clock, self._lock = rate, clock, threading.Lock()
        # Until when the bytes that were taken fill the rate.
        self._filled = 0.0

    def cut(self, block: bytes, wait: Callable[[float], object]) -> Iterator[bytes]:
        """Yield the block, or pieces of it each of which may be sent now; `wait` gets the seconds until then."""
        if self._rate is None:
            yield block
            return
        most = max(self._rate // _PIECES_PER_SECOND, _LEAST_PIECE)
        for start in range(0, len(block), most):
            piece = block[start : start + most]
            if (delay := self._take(len(piece), self._rate)) > 0:
                wait(delay)
            yield piece

    def _take(self, size: int, rate: int) -> float:
        """Return after how many seconds these bytes may be sent."""
        with self._lock:
            now = self._clock()
            self._filled = max(self._filled, now - 0.25) + size / rate
            return self._filled - now
