"""Delivers as badly as SQS may: copies at once and late, in any order, while the first is still in work."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

from local.event_sources.delivery import InOrderDelivery
from local.event_sources.sqs_events import Message
from local.template.model import EventSource


class UnorderedQueues:
    """Every message up to `copies` times, shuffled; the number and the seed may change while it delivers."""

    window = 20

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._random, self._copies = random.Random(0), 1

    def behave(self, seed: int, copies: int) -> None:
        """From now on so."""
        with self._lock:
            self._random, self._copies = random.Random(seed), copies

    def make_batches(self, source: EventSource, messages: Sequence[Message]) -> list[list[Message]]:
        """Shuffled batches; no message is twice in one of them."""
        with self._lock:
            batches = []
            for _ in range(self._random.randint(1, self._copies)):
                shuffled = self._random.sample(list(messages), len(messages))
                batches += InOrderDelivery().make_batches(source, shuffled)
            self._random.shuffle(batches)
        return batches
