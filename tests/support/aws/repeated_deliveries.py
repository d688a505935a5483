"""Delivers messages as badly as SQS may: several times and in random order."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

from local.event_sources.delivery import InOrderDelivery
from local.event_sources.sqs_events import Message
from local.template.model import EventSource


class RepeatedDelivery:
    """Delivers every message `copies` times, the copies of a window of messages in random order."""

    def __init__(self, copies: int = 3, window: int = 100, seed: int = 0) -> None:
        self.window = window
        self._copies = copies
        self._random = random.Random(seed)
        self._lock = threading.Lock()

    def make_batches(self, source: EventSource, messages: Sequence[Message]) -> list[list[Message]]:
        """Return shuffled batches; no batch holds a message twice."""
        batches: list[list[Message]] = []
        with self._lock:
            for _ in range(self._copies):
                shuffled = self._random.sample(list(messages), len(messages))
                batches += InOrderDelivery().make_batches(source, shuffled)
            self._random.shuffle(batches)
        return batches
