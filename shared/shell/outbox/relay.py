"""The publication of events that were committed with the data they tell of.

Guaranteed: an event is published at least once if and only if its transaction committed. The first publications of an
aggregate's events are in the order of their `sequence`, which rises in each aggregate; an event that is repeated keeps
its `eventId` and its `sequence`. So a consumer skips what it saw before by the first, and one that keeps the latest
state alone drops what is older by the second. An outage costs time, however long it is. An event that SNS refuses for
what it is, MOST_REFUSALS times, is parked: it stays and holds up nobody, and `release_parked` has it tried again, late
and under the sequence that it had.
Not guaranteed: order of arrival (an SNS topic has none), or that an event arrives once.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from aws_lambda_powertools.metrics import MetricUnit
from sqlalchemy import bindparam, text

from shell.claiming_ops import LEASED, NEW, PARKED, Claim, Claimed, Outcome, claim, settle
from shell.invocation import seconds_left
from shell.observability import logger, metrics
from shell.sns import MAX_BATCH, MAX_BATCH_BYTES, Answer, Message, publish_batch
from shell.utils.db_helpers import changed_rows, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

# A lease that is over sooner is not used any more: a call may take as long.
SAFE_S = 10.0
RELEASED_AT_ONCE = 500

_WAITING = text(
    "SELECT published, COUNT(*) AS events, TIMESTAMPDIFF(MICROSECOND, MIN(created_at), NOW(6)) / 1000000 AS age "
    "FROM outbox_events FORCE INDEX (ix_outbox_events_unpublished) "
    "WHERE published IN (0, 2, 3) GROUP BY published"
)
_PARKED = text("SELECT id FROM outbox_events WHERE published = 2 ORDER BY id LIMIT :most")
_FREE_PARKED = text(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET published = 3, failures = 0 WHERE id IN :ids AND published = 2"
).bindparams(bindparam("ids", expanding=True))

Queues = dict[tuple[str, str], deque[Claimed]]


class Waiting(NamedTuple):
    """How many events wait, how long the oldest has waited in seconds, and how many are parked."""

    events: int
    oldest_s: float
    parked: int


def publish_pending() -> int:
    """Publish what is free, oldest first, until nothing is left, time is short or SNS is out; returns how many."""
    published, reachable = 0, True
    while reachable and seconds_left() > 0:
        claimed = claim()
        if not claimed.events:
            break
        outcomes, reachable = _publish(claimed)
        settle(claimed, outcomes)
        accepted = sum(outcome is Outcome.ACCEPTED for outcome in outcomes.values())
        published += accepted
        if accepted < len(outcomes):
            logger.warning("events left for later", extra={"count": len(outcomes) - accepted})
    return published


def _publish(claimed: Claim) -> tuple[dict[int, Outcome], bool]:
    """Each event by its outcome, and whether SNS can be reached.

    No two events of an aggregate are in one call, and none follows one of its aggregate that was not taken: a call is
    taken in part, and what comes later would be ahead of what failed.
    """
    outcomes = dict.fromkeys((event.id for event in claimed.events), Outcome.UNTRIED)
    queues: Queues = {}
    for event in claimed.events:
        queues.setdefault(event.aggregate, deque()).append(event)
    reachable = True
    while queues and reachable and seconds_left() > 0 and claimed.seconds_left() > SAFE_S:
        answer = _publish_heads(queues, outcomes)
        reachable = answer.reachable
    return outcomes, reachable


def _publish_heads(queues: Queues, outcomes: dict[int, Outcome]) -> Answer:
    """Publish the first event of as many aggregates as one call takes, and drop those whose event was not taken."""
    batch = _next_batch(queues)
    answer = publish_batch([Message(str(e.id), e.event_type, e.body) for e in batch if e.body is not None])
    for event in batch:
        outcomes[event.id] = _outcome(event, answer)
        if outcomes[event.id] is Outcome.ACCEPTED:
            queues[event.aggregate].popleft()
        if outcomes[event.id] is not Outcome.ACCEPTED or not queues[event.aggregate]:
            del queues[event.aggregate]
    return answer


def _next_batch(queues: Queues) -> list[Claimed]:
    batch: list[Claimed] = []
    size = 0
    for event in sorted((queue[0] for queue in queues.values()), key=lambda head: head.sequence)[:MAX_BATCH]:
        size += len(event.body or "")
        if batch and size > MAX_BATCH_BYTES:
            break
        batch.append(event)
    return batch


def _outcome(event: Claimed, answer: Answer) -> Outcome:
    if str(event.id) in answer.accepted:
        return Outcome.ACCEPTED
    return Outcome.REFUSED if event.body is None or str(event.id) in answer.refused else Outcome.FAILED


def release_parked() -> int:
    """Let everything that is parked be tried again, MOST_REFUSALS times; returns how many events."""
    released = 0
    while seconds_left() > 0:
        freed = _release_some()
        released += freed
        if not freed:
            break
    return released


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _release_some() -> int:
    with session() as transaction:
        ids = transaction.execute(_PARKED, {"most": RELEASED_AT_ONCE}).scalars().all()
        return changed_rows(transaction.execute(_FREE_PARKED, {"ids": ids})) if ids else 0


def report_waiting() -> Waiting:
    """Put into the metrics what waits, for how long, and what is parked; returns it."""
    found = _waiting()
    metrics.add_metric("OutboxLagSeconds", MetricUnit.Seconds, found.oldest_s)
    metrics.add_metric("OutboxWaiting", MetricUnit.Count, found.events)
    metrics.add_metric("OutboxParked", MetricUnit.Count, found.parked)
    metrics.flush_metrics()
    return found


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _waiting() -> Waiting:
    with session() as transaction:
        rows = {row.published: row for row in transaction.execute(_WAITING)}
    waiting = [rows[state] for state in (NEW, LEASED) if state in rows]
    return Waiting(
        events=sum(row.events for row in waiting),
        oldest_s=max((float(row.age) for row in waiting), default=0.0),
        parked=rows[PARKED].events if PARKED in rows else 0,
    )
