"""The time scale that every duration of the template is converted with.

Waiting can be shortened at will, work cannot. Visibility timeouts, delays and schedules therefore shrink by the factor,
while a function keeps at least `shortest_timeout` seconds (or its own timeout, if that is shorter).

SQS, and moto with it, accepts whole seconds. Durations are not rounded here: moto's clock for SQS runs faster by the
same factor (see `local.services.moto_patches`). Queues are created with the template's own values, fractions of a
second stay exact, and a delay that a function requests itself is scaled too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_MAX_VISIBILITY = 43_200
_MIN_PERIOD = 0.5


@dataclass(frozen=True)
class TimeScale:
    """Real seconds per second of the template: 1.0 is the speed of AWS, 0.001 turns six minutes into 0.36 s."""

    factor: float = 1.0
    shortest_timeout: float = 5.0

    def __post_init__(self) -> None:
        if not 0 < self.factor <= 1:
            raise ValueError(f"a time scale must be above 0 and at most 1, not {self.factor}")

    def scale_wait(self, seconds: float) -> float:
        """Return the real seconds of a wait."""
        return seconds * self.factor

    def scale_timeout(self, seconds: float) -> float:
        """Return the real seconds that a function may run."""
        return max(seconds * self.factor, min(seconds, self.shortest_timeout))

    def scale_period(self, seconds: float) -> float:
        """Return the real seconds between two runs of a schedule, long enough that other work gets its turn."""
        return max(seconds * self.factor, min(seconds, _MIN_PERIOD))

    def scale_visibility(self, seconds: float, consumer_timeout: float) -> int:
        """Return the visibility timeout to create a queue with, in the template's seconds.

        It is at least as long as one attempt of the consumer. The template guarantees that a slow attempt is not
        delivered a second time, and that must hold on a scale that does not shorten function timeouts. After a failure
        the queue poller shortens the visibility timeout again.
        """
        longest_attempt = math.ceil(self.scale_timeout(consumer_timeout) / self.factor)
        return min(max(math.ceil(seconds), longest_attempt), _MAX_VISIBILITY)
