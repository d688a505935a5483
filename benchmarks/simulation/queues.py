"""A standard queue of SQS and the event source of a Lambda function, as far as they decide when work is done.

Modelled: message groups on a standard queue (Amazon SQS developer guide, "Amazon SQS fair queues"), batches without a
window, the maximum concurrency of an event source, partial batch responses, the visibility timeout after a function
that died, receive counts and the dead-letter queue (AWS Lambda developer guide, "Using Lambda with Amazon SQS"), and
execution environments, of which a new one starts cold. Within a group, the order is that of sending, as a standard
queue has it most of the time and never guarantees it. Not modelled: duplicates, which the application acknowledges.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any

from simpy import Environment, Event

# An execution environment that was idle for longer is gone. AWS promises no time; five to fifteen minutes are common.
KEPT_WARM_S = 600.0


@dataclass(slots=True)
class Message:
    """A message: what it is about, its group, and how often it was received."""

    body: Any
    group: str | None = None
    received: int = 0


class Queue:
    """A queue. `dead` are the messages that were received too often."""

    def __init__(self, env: Environment, visibility_s: float, most_receives: int) -> None:
        self._env = env
        self._visibility_s, self._most_receives = visibility_s, most_receives
        self._groups: dict[object, deque[Message]] = {}
        self._in_flight: dict[object, int] = {}
        self.visible = 0
        self.dead: list[Message] = []
        self.on_arrival: Callable[[], None] = lambda: None

    def send(self, messages: Iterable[Message]) -> None:
        """Add messages, in this order."""
        for message in messages:
            self._groups.setdefault(_group(message), deque()).append(message)
            self.visible += 1
        self.on_arrival()

    def receive(self, limit: int) -> list[Message]:
        """Return up to `limit` messages, those of the groups with the fewest in flight first."""
        turns = [(self._in_flight.get(group, 0), n, group) for n, group in enumerate(self._groups)]
        heapq.heapify(turns)
        received: list[Message] = []
        while turns and len(received) < limit:
            in_flight, n, group = turns[0]
            received.append(self._take(group))
            if group in self._groups:
                heapq.heapreplace(turns, (in_flight + 1, n, group))
            else:
                heapq.heappop(turns)
        return received

    def delete(self, message: Message) -> None:
        """Delete a message that was received."""
        group = _group(message)
        self._in_flight[group] -= 1
        if not self._in_flight[group]:
            del self._in_flight[group]

    def postpone(self, message: Message) -> None:
        """Make a message visible again for which there was no time; in its last delivery it is sent anew."""
        message.received %= self._most_receives
        self.delete(message)
        self.send([message])

    def expire(self, messages: Iterable[Message]) -> None:
        """Let received messages become visible again after the visibility timeout, or dead if they came too often."""
        for message in messages:
            self._env.timeout(self._visibility_s, message).callbacks.append(lambda event: self._return(event.value))

    def _return(self, message: Message) -> None:
        self.delete(message)
        if message.received >= self._most_receives:
            self.dead.append(message)
        else:
            self.send([message])

    def _take(self, group: object) -> Message:
        waiting = self._groups[group]
        message = waiting.popleft()
        if not waiting:
            del self._groups[group]
        self.visible -= 1
        message.received += 1
        self._in_flight[group] = self._in_flight.get(group, 0) + 1
        return message


def _group(message: Message) -> object:
    """A message without a group is one of its own."""
    return message.group or id(message)


# Does the work of a batch: yields events, and returns the messages that it did not get to, or None if it died.
Work = Callable[[list[Message]], Generator[Event, Any, list[Message] | None]]


@dataclass(frozen=True)
class SourceSettings:
    """BatchSize and MaximumConcurrency; seconds until a message is delivered, and until a new environment works."""

    batch_size: int
    concurrency: int
    delivery_s: float = 0.0
    cold_start_s: float = 0.0


class EventSource:
    """Invokes a function for the messages of a queue. `billed_s` are the seconds of all invocations."""

    def __init__(self, env: Environment, queue: Queue, settings: SourceSettings, work: Work) -> None:
        self._env, self._queue, self._settings, self._work = env, queue, settings, work
        self._idle_since: list[float] = []
        self.running, self.billed_s = 0, 0.0
        queue.on_arrival = self._invoke_all

    @property
    def is_full(self) -> bool:
        """Whether messages wait because as many invocations run as may."""
        return self._queue.visible > 0 and self.running == self._settings.concurrency

    def _invoke_all(self) -> None:
        while self._queue.visible and self.running < self._settings.concurrency:
            self.running += 1
            self._env.process(self._invoke(self._queue.receive(self._settings.batch_size)))

    def _invoke(self, batch: list[Message]) -> Generator[Event, Any, None]:
        began = self._env.now
        delay = self._settings.delivery_s + self._find_cold_start()
        if delay:
            yield self._env.timeout(delay)
        undone = yield from self._work(batch)
        self._acknowledge(batch, undone)
        self._idle_since.append(self._env.now)
        self.billed_s += self._env.now - began - self._settings.delivery_s
        self.running -= 1
        self._invoke_all()

    def _find_cold_start(self) -> float:
        """Take the environment that was used last, if it is still there; return the seconds that a new one takes."""
        if self._idle_since and self._env.now - self._idle_since.pop() <= KEPT_WARM_S:
            return 0.0
        self._idle_since.clear()
        return self._settings.cold_start_s

    def _acknowledge(self, batch: list[Message], undone: list[Message] | None) -> None:
        if undone is None:
            self._queue.expire(batch)
            return
        waiting = set(map(id, undone))
        for message in batch:
            if id(message) not in waiting:
                self._queue.delete(message)
        for message in undone:
            self._queue.postpone(message)
