"""How a poller hands on what it received: as it came, or as badly as SQS may.

SQS promises at least once and no order. A well-behaved local queue would hide every fault that rests on more.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from typing import Protocol

from local.sqs_events import Message
from local.wiring import EventSource


class Delivery(Protocol):
    """Decides the batches; `window` messages of a queue are gathered first, if that many are waiting."""

    window: int

    def batches(self, source: EventSource, messages: Sequence[Message]) -> list[list[Message]]:
        """Batches of at most the source's batch size, in the order in which to deliver them."""


class AsReceived:
    """Every message once, in the order in which it came."""

    window = 1

    def batches(self, source: EventSource, messages: Sequence[Message]) -> list[list[Message]]:
        """Consecutive messages."""
        size = source.batch_size
        return [list(messages[start : start + size]) for start in range(0, len(messages), size)]


class Repeated:
    """Every message `copies` times, the copies of a window of messages in random order."""

    def __init__(self, copies: int = 3, window: int = 100, seed: int = 0) -> None:
        self.window = window
        self._copies = copies
        self._random = random.Random(seed)  # noqa: S311 - to be repeatable
        self._lock = threading.Lock()

    def batches(self, source: EventSource, messages: Sequence[Message]) -> list[list[Message]]:
        """Shuffled batches; no message is twice in one of them."""
        batches: list[list[Message]] = []
        for _ in range(self._copies):
            with self._lock:
                shuffled = self._random.sample(list(messages), len(messages))
            batches += AsReceived().batches(source, shuffled)
        with self._lock:
            self._random.shuffle(batches)
        return batches
