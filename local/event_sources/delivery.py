"""How a poller delivers the messages that it received.

SQS guarantees at-least-once delivery and no order. A local queue that always behaves well would hide code that relies
on more, so tests replace `InOrderDelivery` with a worse one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from local.event_sources.sqs_events import Message
    from local.template.model import EventSource


class Delivery(Protocol):
    """A strategy that forms batches; `window` messages of a queue are collected first, if that many are available."""

    window: int

    def make_batches(self, source: EventSource, messages: Sequence[Message]) -> list[list[Message]]:
        """Return batches of at most the source's batch size, in the order of their delivery."""


class InOrderDelivery:
    """Delivers every message once, in the order of its arrival."""

    window = 1

    def make_batches(self, source: EventSource, messages: Sequence[Message]) -> list[list[Message]]:
        """Return consecutive messages as batches."""
        size = source.batch_size
        return [list(messages[start : start + size]) for start in range(0, len(messages), size)]
