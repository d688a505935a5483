"""What a template wires together, as values; durations in seconds, resources by their logical ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any


@dataclass(frozen=True)
class Durable:
    """How long a durable execution may take, in seconds, and how long it is remembered after its end."""

    execution_timeout: int
    retention_days: int


@dataclass(frozen=True)
class Function:
    """One Lambda function; `environment` still holds its intrinsic functions, `alias` is the published one."""

    name: str
    handler: str
    timeout: float
    memory_mb: int
    environment: Mapping[str, Any]
    alias: str | None = None
    durable: Durable | None = None


@dataclass(frozen=True)
class Redrive:
    """Where a message goes that was received `max_receive_count` times in vain."""

    dead_letter_queue: str
    max_receive_count: int


@dataclass(frozen=True)
class Queue:
    """One SQS queue."""

    logical_id: str
    name: str
    visibility: float
    delay: float
    redrive: Redrive | None


@dataclass(frozen=True)
class EventSource:
    """A queue that a function consumes; `max_concurrency` None means no limit of its own."""

    function: str
    queue: str
    batch_size: int
    max_concurrency: int | None
    reports_failures: bool


@dataclass(frozen=True)
class Schedule:
    """A function that is invoked every so often; `payload` None means EventBridge's own event."""

    function: str
    name: str
    every: float
    payload: str | None = None


@dataclass(frozen=True)
class ApiRoute:
    """A function that answers one method and path of the HTTP API; variables of the path stand in braces."""

    function: str
    method: str
    path: str

    @property
    def key(self) -> str:
        """As API Gateway names it: `GET /imports/{importId}`."""
        return f"{self.method} {self.path}"

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of the path between its slashes."""
        return tuple(self.path.split("/")[1:])


@dataclass(frozen=True)
class Topic:
    """One SNS topic."""

    logical_id: str
    name: str


@dataclass(frozen=True)
class Subscription:
    """A queue that listens to a topic."""

    topic: str
    queue: str
    raw: bool
    filter_policy: Mapping[str, Any] | None
    filter_scope: str | None


@dataclass(frozen=True)
class Notification:
    """What the bucket tells a queue; prefix and suffix are empty where all keys count."""

    event: str
    queue: str
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True)
class Bucket:
    """One S3 bucket."""

    logical_id: str
    name: str
    versioned: bool
    notifications: tuple[Notification, ...] = field(default=())


def before_dead_letters(queues: Iterable[Queue]) -> list[str]:
    """The queues' logical ids, each one before that of its dead-letter queue."""
    order: TopologicalSorter[str] = TopologicalSorter()
    for queue in queues:
        order.add(queue.logical_id)
        if queue.redrive:
            order.add(queue.redrive.dead_letter_queue, queue.logical_id)
    return list(order.static_order())
