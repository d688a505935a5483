"""Lease outbox events to a publisher, and record the results of publishing them.

Guaranteed: an event is leased to one publisher at a time, for LEASE_S seconds by the database's clock, and a publisher
whose lease another has taken over records nothing. From its first lease on, an event has its `sequence` within its
aggregate; until it is published or dead-lettered, no later event of the aggregate is leased.
Not guaranteed: that a publisher stops when its lease ends. It may then publish what another publisher publishes too, in
the same order.

Ids are not in commit order: a smaller one may commit later. Sequences are therefore assigned by one lease at a time,
under the lock of the `outbox_state` row, which also lets each lease see the earlier ones. Retries and dead letters are
recorded under that lock too; published events are marked without it.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from sqlalchemy import TextClause, bindparam, text
from sqlalchemy.orm import Session

from shell.db.session import session
from shell.observability import logger, naming_tenant
from shell.outbox.bus import DEAD_LETTER_FACTS, build_facts, copy_to_bus
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

LEASE_SIZE = 100
# For the oldest events of any aggregate; the rest is for aggregates that wait after thousands of events of another.
HALF = LEASE_SIZE // 2
LEASE_S = 60
# After this many refusals an event is dead-lettered.
MAX_REFUSALS = 5
LONGEST_PAUSE_S = 300
# The values of `published`. LEASED remains after the lease ends: such an event has its sequence, and later ones wait.
NEW, PUBLISHED, DEAD_LETTERED, LEASED = 0, 1, 2, 3
# The refusal of an event whose payload is no JSON object, which is not sent.
INVALID_PAYLOAD = "InvalidPayload"

_LOCK = text("SELECT last_sequence FROM outbox_state WHERE id = 1 FOR UPDATE")
# Subqueries with LIMIT instead of EXISTS, which the optimizer may evaluate by a scan of all waiting events.
_CANDIDATES = (
    "SELECT candidate.id FROM outbox_events AS candidate FORCE INDEX (ix_outbox_events_unpublished) "
    "WHERE candidate.published = {state} AND (candidate.lease_until IS NULL OR candidate.lease_until < NOW(6)) {rules}"
    "ORDER BY candidate.id LIMIT :limit"
)
_NO_OTHER_OF_AGGREGATE = (
    "AND (SELECT other.id FROM outbox_events AS other FORCE INDEX (ix_outbox_events_aggregate) "
    "WHERE other.aggregate_type = candidate.aggregate_type AND other.aggregate_id = candidate.aggregate_id "
    "AND other.published = {state} {rule} LIMIT 1) IS NULL "
)
# Leased before: by a publisher that died, backed off, or returned it untried after an earlier event failed.
_IS_NEXT = _NO_OTHER_OF_AGGREGATE.format(
    state=LEASED,
    rule="AND other.id <> candidate.id AND (other.sequence < candidate.sequence OR other.lease_until >= NOW(6))",
)
_NOT_BLOCKED = _NO_OTHER_OF_AGGREGATE.format(state=LEASED, rule="")
_IS_FIRST = _NO_OTHER_OF_AGGREGATE.format(state=NEW, rule="AND other.id < candidate.id")
NEXT = text(_CANDIDATES.format(state=LEASED, rules=_IS_NEXT))
OLDEST = text(_CANDIDATES.format(state=NEW, rules=_NOT_BLOCKED))
FIRSTS = text(_CANDIDATES.format(state=NEW, rules=_NOT_BLOCKED + _IS_FIRST))


def _by_ids(statement: str) -> TextClause:
    return text(statement).bindparams(bindparam("ids", expanding=True))


_FREE = _by_ids(
    "SELECT id, aggregate_type, aggregate_id, event_type, payload, sequence, failures "
    "FROM outbox_events FORCE INDEX (PRIMARY) "
    "WHERE id IN :ids AND published IN (0, 3) AND (lease_until IS NULL OR lease_until < NOW(6)) "
    "ORDER BY id FOR UPDATE SKIP LOCKED"
)
_LEASE = _by_ids(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) "
    "SET published = 3, lease_token = :token, attempts = attempts + 1, "
    "lease_until = NOW(6) + INTERVAL :lease SECOND, sequence = COALESCE(sequence, :last + FIND_IN_SET(id, :places)) "
    "WHERE id IN :ids"
)
_SET_LAST_SEQUENCE = text("UPDATE outbox_state SET last_sequence = :last WHERE id = 1")
_MARK = _by_ids(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET published = 1 WHERE id IN :ids AND lease_token = :token"
)
# Between half of the pause and all of it, so that events which failed together are not retried together.
_BACK_OFF = _by_ids(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET lease_token = NULL, failures = failures + :refusals, lease_until = "
    "NOW(6) + INTERVAL (LEAST(:longest, POW(2, LEAST(attempts, 20))) * (0.5 + RAND() / 2)) SECOND "
    "WHERE id IN :ids AND lease_token = :token AND published = 3"
)
_DEAD_LETTER = _by_ids(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) "  # noqa: S608 - of constants
    f"SET published = 2, failures = failures + 1, {DEAD_LETTER_FACTS}, lease_token = NULL, "
    "lease_until = NULL WHERE id IN :ids AND lease_token = :token AND published = 3"
)
_RELEASE = _by_ids(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET lease_token = NULL, lease_until = NULL, attempts = attempts - 1 "
    "WHERE id IN :ids AND lease_token = :token AND published = 3"
)


class PublishResult(Enum):
    """The result of publishing a leased event: FAILED for a transient reason, REFUSED for the event's own content."""

    UNTRIED = auto()
    ACCEPTED = auto()
    FAILED = auto()
    REFUSED = auto()


@dataclass(frozen=True)
class LeasedEvent:
    """A leased event: its message (None if its payload is not valid JSON) and its number of earlier refusals.

    `tenant_id` is empty if the event has no tenant.
    """

    id: int
    aggregate: tuple[str, str]
    event_type: str
    tenant_id: str
    body: str | None
    sequence: int
    failures: int


@dataclass(frozen=True)
class OutboxLease:
    """Events in the order of their sequences, and the token of their lease."""

    token: str
    events: Sequence[LeasedEvent]
    began: float

    def seconds_left(self) -> float:
        """Return the seconds that the lease still lasts at least, counted from before it was committed."""
        return LEASE_S - (time.monotonic() - self.began)


def lease_events() -> OutboxLease:
    """Lease the oldest free events and commit, so that no lock is held while they are published."""
    token, began = secrets.token_hex(16), time.monotonic()
    return OutboxLease(token, _lease(token), began)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _lease(token: str) -> list[LeasedEvent]:
    with session() as transaction:
        last = int(transaction.execute(_LOCK).scalar_one())
        ids = _select_candidates(transaction)
        rows = transaction.execute(_FREE, {"ids": ids}).all() if ids else []
        if rows:
            ids = [row.id for row in rows]
            places = ",".join(map(str, ids))
            values = {"token": token, "lease": LEASE_S, "last": last, "ids": ids, "places": places}
            transaction.execute(_LEASE, values)
            transaction.execute(_SET_LAST_SEQUENCE, {"last": last + len(ids)})
    events = [_build_event(row, last + place) for place, row in enumerate(rows, 1)]
    return sorted(events, key=lambda event: event.sequence)


def _select_candidates(transaction: Session) -> list[int]:
    """Return at most LEASE_SIZE ids of free events; of an aggregate's new events the smallest id is leased first."""
    following = transaction.execute(NEXT, {"limit": HALF}).scalars().all()
    oldest = transaction.execute(OLDEST, {"limit": HALF}).scalars().all()
    firsts = transaction.execute(FIRSTS, {"limit": LEASE_SIZE}).scalars().all() if len(oldest) == HALF else []
    return list(dict.fromkeys([*following, *oldest, *firsts]))[:LEASE_SIZE]


def _build_event(row: Any, new_sequence: int) -> LeasedEvent:
    sequence = new_sequence if row.sequence is None else row.sequence
    aggregate, payload = (row.aggregate_type, row.aggregate_id), _parse_payload(row.payload)
    body = None
    if payload is not None:
        body = json.dumps({**payload, "eventType": row.event_type, "eventId": row.id, "sequence": sequence})
    tenant_id = str((payload or {}).get("tenantId", ""))
    return LeasedEvent(row.id, aggregate, row.event_type, tenant_id, body, sequence, row.failures)


def _parse_payload(text: str) -> dict[str, Any] | None:
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError):
        return None


def record_results(
    lease: OutboxLease, results: Mapping[int, PublishResult], codes: Mapping[int, str] | None = None
) -> None:
    """Record the events' results, by event id, unless another publisher has taken the lease over.

    `codes` are the error codes of refused events, by event id.

    Accepted events are marked as published. Failed and refused events wait, twice as long each time; after MAX_REFUSALS
    a refused event is dead-lettered and logged as an error. Untried events are free at once.
    """
    by_result = {result: [event for event in lease.events if results[event.id] is result] for result in PublishResult}
    _mark_published(lease.token, _ids(by_result[PublishResult.ACCEPTED]))
    if len(by_result[PublishResult.ACCEPTED]) == len(lease.events):
        return
    dead_lettered = [event for event in by_result[PublishResult.REFUSED] if event.failures + 1 >= MAX_REFUSALS]
    again = [event for event in by_result[PublishResult.REFUSED] if event not in dead_lettered]
    _record_unpublished(
        lease.token,
        _ids(by_result[PublishResult.UNTRIED]),
        _ids(by_result[PublishResult.FAILED]),
        _ids(again),
        dead_lettered,
        codes or {},
    )
    for event in dead_lettered:
        with naming_tenant(event.tenant_id or None):
            logger.error("event dead-lettered", extra={"event": event.id, "type": event.event_type})


def _ids(events: Sequence[LeasedEvent]) -> list[int]:
    return [event.id for event in events]


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _mark_published(token: str, accepted: Sequence[int]) -> None:
    if accepted:
        with session() as transaction:
            copy_to_bus(transaction, token, accepted)
            transaction.execute(_MARK, {"token": token, "ids": accepted})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _record_unpublished(
    token: str,
    untried: Sequence[int],
    failed: Sequence[int],
    again: Sequence[int],
    dead_lettered: Sequence[LeasedEvent],
    codes: Mapping[int, str],
) -> None:
    """Release, delay or dead-letter events under the leasing lock; a lease could otherwise skip one for later ones."""
    facts = build_facts([(each.id, each.tenant_id, codes.get(each.id, INVALID_PAYLOAD)) for each in dead_lettered])
    with session() as transaction:
        transaction.execute(_LOCK)
        copy_to_bus(transaction, token, [each.id for each in dead_lettered if each.body is not None])
        for statement, ids, values in (
            (_RELEASE, untried, {}),
            (_BACK_OFF, failed, {"refusals": 0, "longest": LONGEST_PAUSE_S}),
            (_BACK_OFF, again, {"refusals": 1, "longest": LONGEST_PAUSE_S}),
            (_DEAD_LETTER, _ids(dead_lettered), facts),
        ):
            if ids:
                transaction.execute(statement, {"token": token, "ids": ids, **values})
