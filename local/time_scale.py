"""The one time scale that every duration of the template goes through.

Waiting can be shortened at will, work cannot: a computer does not get faster because a test is in a hurry. So
visibility time-outs, delays and schedules shrink by the factor, while a function keeps at least `shortest_timeout`
seconds (or its own time-out, if that is less).

SQS, and moto with it, takes whole seconds. They are not rounded here: moto's clock for SQS runs faster by the same
factor (see `local.faithful_moto`), so queues are created with the template's own figures, fractions of a second come
out exactly, and a delay that a function asks for by itself is scaled too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_LONGEST_VISIBILITY = 43_200
_SHORTEST_PERIOD = 0.5


@dataclass(frozen=True)
class TimeScale:
    """Real seconds per second of the template; 1.0 is as in AWS, 0.001 turns six minutes into 0.36 s."""

    factor: float = 1.0
    shortest_timeout: float = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.factor <= 1:
            raise ValueError(f"a time scale lies above 0 and is at most 1, not {self.factor}")

    def wait(self, seconds: float) -> float:
        """Real seconds of a wait."""
        return seconds * self.factor

    def timeout(self, seconds: float) -> float:
        """Real seconds that a function gets."""
        return max(seconds * self.factor, min(seconds, self.shortest_timeout))

    def period(self, seconds: float) -> float:
        """Real seconds between two runs of a schedule; never so short that the runs are all that happens."""
        return max(seconds * self.factor, min(seconds, _SHORTEST_PERIOD))

    def visibility(self, seconds: float, consumer_timeout: float) -> int:
        """Visibility to create a queue with, in the template's seconds.

        At least as long as the consumer may take: what holds in the template, that a slow attempt is never doubled,
        must hold on a scale that leaves time-outs alone. After a failure the pump shortens it again.
        """
        longest_attempt = math.ceil(self.timeout(consumer_timeout) / self.factor)
        return min(max(math.ceil(seconds), longest_attempt), _LONGEST_VISIBILITY)
