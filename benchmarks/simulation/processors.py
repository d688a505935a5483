"""Processors that jobs share: each job gets what it can use, or all of them an equal share of that.

A job that runs alone takes `seconds` and keeps `processors` of them busy. While all jobs together can use more than
there are, every one of them is slowed down by the same factor, so that the processors are exactly in full use.
"""

from __future__ import annotations

import heapq
from typing import Any

from simpy import Environment, Event

# Times are sums of many floats; a job that ends within a nanosecond of now has ended.
_ROUNDING_S = 1e-9


class SharedProcessors:
    """Some processors, whose number can change. `used_s` are seconds of one of them in use, up to the last `update`."""

    def __init__(self, env: Environment, processors: float) -> None:
        self._env = env
        self._processors = processors
        # The seconds that a job has run, were it alone since the beginning; a job ends when that reaches its mark.
        self._progress, self._updated_at, self._timer = 0.0, 0.0, 0
        self._jobs: list[tuple[float, int, float, Event]] = []
        self._count = 0
        self.demand, self.used_s = 0.0, 0.0

    @property
    def rate(self) -> float:
        """The share of its own speed at which a job runs: 1 where there are enough processors."""
        return min(1.0, self._processors / self.demand) if self.demand else 1.0

    def serve(self, seconds: float, processors: float) -> Event:
        """Return the event of the end of a job that alone takes `seconds` and uses `processors`."""
        self.update()
        done = self._env.event()
        self._count += 1
        heapq.heappush(self._jobs, (self._progress + seconds, self._count, processors, done))
        self.demand += processors
        self._schedule()
        return done

    def resize(self, processors: float) -> None:
        """Change the number of processors."""
        self.update()
        self._processors = processors
        self._schedule()

    def update(self) -> None:
        """Bring the progress of the jobs and the counters to the present."""
        elapsed = self._env.now - self._updated_at
        self._updated_at = self._env.now
        self._progress += elapsed * self.rate
        self.used_s += elapsed * min(self.demand, self._processors)

    def _schedule(self) -> None:
        self._timer += 1
        if self._jobs and self.rate:
            delay = max(0.0, (self._jobs[0][0] - self._progress) / self.rate)
            self._env.timeout(delay, self._timer).callbacks.append(self._end_jobs)

    def _end_jobs(self, timer: Any) -> None:
        if timer.value != self._timer:
            return
        self.update()
        while self._jobs and self._jobs[0][0] <= self._progress + _ROUNDING_S:
            _, _, processors, done = heapq.heappop(self._jobs)
            self.demand = self.demand - processors if self._jobs else 0.0
            done.succeed()
        self._schedule()
