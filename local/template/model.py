"""The resources of a template and their connections, as values; durations in seconds, references by logical id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any


@dataclass(frozen=True)
class DurableConfig:
    """The time limit of a durable execution, in seconds, and how long its record is kept after it ends."""

    execution_timeout: int
    retention_days: int


@dataclass(frozen=True)
class Function:
    """One Lambda function; `environment` holds unresolved intrinsic functions, `alias` is the published alias."""

    name: str
    handler: str
    timeout: float
    memory_mb: int
    environment: Mapping[str, Any]
    alias: str | None = None
    durable: DurableConfig | None = None


@dataclass(frozen=True)
class RedrivePolicy:
    """The queue for messages that were received `max_receive_count` times without success."""

    dead_letter_queue: str
    max_receive_count: int


@dataclass(frozen=True)
class Queue:
    """One SQS queue; `has_reminders` if its delayed messages only remind a function of work that may be left."""

    logical_id: str
    name: str
    visibility: float
    delay: float
    redrive: RedrivePolicy | None
    has_reminders: bool = False


@dataclass(frozen=True)
class EventSource:
    """A queue that a function consumes; `max_concurrency` None means no limit for this event source."""

    function: str
    queue: str
    batch_size: int
    max_concurrency: int | None
    reports_failures: bool


@dataclass(frozen=True)
class Schedule:
    """A function that is invoked at a fixed rate; `payload` None means EventBridge's default event."""

    function: str
    name: str
    period: float
    payload: str | None = None


@dataclass(frozen=True)
class ApiRoute:
    """A function that serves one method and path of the HTTP API; path variables are in braces.

    The last one can be greedy (`{page+}`): it has the rest of the path. A route that `is_open` needs no token.
    """

    function: str
    method: str
    path: str
    is_open: bool = False

    @property
    def key(self) -> str:
        """Return API Gateway's route key: `GET /imports/{importId}`."""
        return f"{self.method} {self.path}"

    @property
    def segments(self) -> tuple[str, ...]:
        """Return the parts of the path between its slashes."""
        return tuple(self.path.split("/")[1:])


@dataclass(frozen=True)
class Topic:
    """One SNS topic."""

    logical_id: str
    name: str


@dataclass(frozen=True)
class Subscription:
    """A subscription of a queue to a topic."""

    topic: str
    queue: str
    raw: bool
    filter_policy: Mapping[str, Any] | None
    filter_scope: str | None


@dataclass(frozen=True)
class Notification:
    """An S3 event notification to a queue; an empty prefix and suffix match every key."""

    event: str
    queue: str
    prefix: str = ""
    suffix: str = ""


@dataclass(frozen=True)
class CorsRule:
    """What pages of other origins may request of a bucket, and which headers of the responses they see."""

    origins: tuple[str, ...]
    methods: tuple[str, ...]
    headers: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    max_age: int | None = None


@dataclass(frozen=True)
class Expiry:
    """A lifecycle rule: days after which objects, superseded versions and uploads are deleted; None: never."""

    prefix: str = ""
    days: int | None = None
    noncurrent_days: int | None = None
    upload_days: int | None = None


@dataclass(frozen=True)
class Bucket:
    """One S3 bucket."""

    logical_id: str
    name: str
    versioned: bool
    notifications: tuple[Notification, ...] = field(default=())
    cors: tuple[CorsRule, ...] = field(default=())
    expiries: tuple[Expiry, ...] = field(default=())


def sort_dead_letter_queues_last(queues: Iterable[Queue]) -> list[str]:
    """Return the queues' logical ids, each queue before its dead-letter queue."""
    order: TopologicalSorter[str] = TopologicalSorter()
    for queue in queues:
        order.add(queue.logical_id)
        if queue.redrive:
            order.add(queue.redrive.dead_letter_queue, queue.logical_id)
    return list(order.static_order())
