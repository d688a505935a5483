"""Publish committed outbox events to SNS; `shell.outbox.bus` publishes them to an event bus, too.

Guaranteed: an event is published at least once if and only if its transaction committed. The first publications of an
aggregate's events are in the order of their `sequence`, which increases within an aggregate; a repeated event keeps its
`eventId` and `sequence`. A consumer therefore deduplicates by `eventId`, and one that keeps only the latest state drops
older events by `sequence`. An outage delays events and loses none. An event that SNS refuses MAX_REFUSALS times for its
content is dead-lettered: it is kept and does not delay other events, and `release_dead_letters` has it retried, late
and with its original sequence.
Not guaranteed: order of arrival (a standard SNS topic has none), or that an event arrives once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple

from aws_lambda_powertools.metrics import MetricUnit
from sqlalchemy import bindparam, text

from shell.db.session import session
from shell.deadline import seconds_left
from shell.observability import logger, metrics
from shell.outbox import bus
from shell.outbox.bus import publish_to_bus, release_bus_dead_letters
from shell.outbox.leases import (
    DEAD_LETTERED,
    LEASED,
    NEW,
    LeasedEvent,
    OutboxLease,
    PublishResult,
    lease_events,
    record_results,
)
from shell.settings import settings
from shell.sns import MAX_BATCH, MAX_BATCH_BYTES, Message, PublishResponse, publish_batch
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict
from shell.work.reading import read_turn
from shell.work.reminders import remind

# A lease with less time left is not used any more: a call may take this long.
SAFE_S = 10.0
RELEASE_BATCH = 500
RETRY_S = 60

_COUNT_UNPUBLISHED = text(
    "SELECT published, COUNT(*) AS events, TIMESTAMPDIFF(MICROSECOND, MIN(created_at), NOW(6)) / 1000000 AS age "
    "FROM outbox_events FORCE INDEX (ix_outbox_events_unpublished) "
    "WHERE published IN (0, 2, 3, 4, 5) GROUP BY published"
)
_SELECT_DEAD_LETTERS = text("SELECT id FROM outbox_events WHERE published = 2 ORDER BY id LIMIT :limit")
_RELEASE_DEAD_LETTERS = text(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET published = 3, failures = 0 WHERE id IN :ids AND published = 2"
).bindparams(bindparam("ids", expanding=True))

Queues = dict[tuple[str, str], deque[LeasedEvent]]


class OutboxBacklog(NamedTuple):
    """The number of waiting events, the age of the oldest in seconds, and the number of dead-lettered events."""

    events: int
    oldest_s: float
    dead_lettered: int


def publish_pending() -> int:
    """Publish free events, oldest first, until none is left, time is short or SNS is unreachable; return how many.

    Then those that SNS has accepted are published to the event bus, if there is one.
    """
    published = _publish_to_topic()
    publish_to_bus()
    return published


def _publish_to_topic() -> int:
    published, reachable = 0, True
    while reachable and seconds_left() > 0:
        lease = lease_events()
        if not lease.events:
            break
        results, codes, reachable = _publish(lease)
        record_results(lease, results, codes)
        accepted = sum(result is PublishResult.ACCEPTED for result in results.values())
        published += accepted
        if accepted < len(results):
            logger.warning("events not published yet", extra={"count": len(results) - accepted})
    return published


def _publish(lease: OutboxLease) -> tuple[dict[int, PublishResult], dict[int, str], bool]:
    """Publish the lease's events; return each event's result by id, the codes of refusals, and if SNS is reachable.

    A call has at most one event of an aggregate, and none is published after an event of its aggregate that was not
    accepted: SNS accepts a batch in part, and a later event would overtake the failed one.
    """
    results = dict.fromkeys((event.id for event in lease.events), PublishResult.UNTRIED)
    queues: Queues = {}
    codes: dict[int, str] = {}
    for event in lease.events:
        queues.setdefault(event.aggregate, deque()).append(event)
    reachable = True
    while queues and reachable and seconds_left() > 0 and lease.seconds_left() > SAFE_S:
        response = _publish_heads(queues, results)
        codes |= {int(key): code for key, code in response.codes.items()}
        reachable = response.reachable
    return results, codes, reachable


def _publish_heads(queues: Queues, results: dict[int, PublishResult]) -> PublishResponse:
    """Publish the first event of as many aggregates as fit a call; drop aggregates whose event was not accepted."""
    batch = _build_batch(queues)
    messages = [Message(str(e.id), e.event_type, e.body, e.tenant_id) for e in batch if e.body is not None]
    response = publish_batch(messages)
    for event in batch:
        results[event.id] = _get_result(event, response)
        if results[event.id] is PublishResult.ACCEPTED:
            queues[event.aggregate].popleft()
        if results[event.id] is not PublishResult.ACCEPTED or not queues[event.aggregate]:
            del queues[event.aggregate]
    return response


def _build_batch(queues: Queues) -> list[LeasedEvent]:
    batch: list[LeasedEvent] = []
    size = 0
    for event in sorted((queue[0] for queue in queues.values()), key=lambda head: head.sequence)[:MAX_BATCH]:
        size += len(event.body or "")
        if batch and size > MAX_BATCH_BYTES:
            break
        batch.append(event)
    return batch


def _get_result(event: LeasedEvent, response: PublishResponse) -> PublishResult:
    if str(event.id) in response.accepted:
        return PublishResult.ACCEPTED
    return PublishResult.REFUSED if event.body is None or str(event.id) in response.refused else PublishResult.FAILED


def release_dead_letters() -> int:
    """Make all dead-lettered events free for MAX_REFUSALS further attempts; return how many."""
    released = 0
    while seconds_left() > 0:
        batch = _release_batch()
        released += batch
        if not batch:
            break
    return released + release_bus_dead_letters()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _release_batch() -> int:
    with session() as transaction:
        ids = transaction.execute(_SELECT_DEAD_LETTERS, {"limit": RELEASE_BATCH}).scalars().all()
        return count_changed_rows(transaction.execute(_RELEASE_DEAD_LETTERS, {"ids": ids})) if ids else 0


def report_backlog(event: Mapping[str, Any] | None = None) -> OutboxBacklog:
    """Emit the backlog as metrics and return it; while events wait, have the relay run again in RETRY_S.

    `event` has the messages of this run: if a later one was sent, that one has the relay run again.
    Raises QueueUnavailableError if that cannot be requested: then the message of this run is delivered again.
    """
    backlog = _read_backlog()
    if backlog.events:
        remind(settings().outbox_wake_queue_url, RETRY_S, read_turn(event or {}))
    metrics.add_metric("OutboxLagSeconds", MetricUnit.Seconds, backlog.oldest_s)
    metrics.add_metric("OutboxWaiting", MetricUnit.Count, backlog.events)
    metrics.add_metric("OutboxDeadLettered", MetricUnit.Count, backlog.dead_lettered)
    metrics.flush_metrics()
    return backlog


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_backlog() -> OutboxBacklog:
    with session() as transaction:
        rows = {row.published: row for row in transaction.execute(_COUNT_UNPUBLISHED)}
    is_used = bool(settings().event_bus_name)
    waiting = [rows[state] for state in (NEW, LEASED, *([bus.WAITING] if is_used else [])) if state in rows]
    return OutboxBacklog(
        events=sum(row.events for row in waiting),
        oldest_s=max((float(row.age) for row in waiting), default=0.0),
        dead_lettered=sum(rows[state].events for state in (DEAD_LETTERED, bus.DEAD_LETTERED) if state in rows),
    )
