"""Who publishes which events: claims under a lease, and what becomes of what was claimed.

Guaranteed: an event is claimed by one publisher at a time, for LEASE_S seconds by the database's clock, and nothing is
recorded of it by one whose lease another has taken over. From its first claim on an event has its place among those of
its aggregate, `sequence`; until it is published or parked, none behind it is claimed.
Not guaranteed: that a publisher stops when its lease ends. It then publishes what another publishes too, and in the
same order.

Ids are not the order of commits: a smaller one may commit later. Places are given out one claim after the other, under
the lock of the row of `outbox_state`, which also lets each claim see the leases of those before it. What has an event
tried again, or parked, is recorded under that lock too; what was published is marked without it.
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

from shell.observability import logger
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

CLAIM = 100
# Of the oldest, whosever they are; the rest is for aggregates that wait behind thousands of another's.
HALF = CLAIM // 2
LEASE_S = 60
# Refused so often, an event is set aside.
MOST_REFUSALS = 5
LONGEST_PAUSE_S = 300
# What `published` says. LEASED stays when the lease is over: such an event has its place, and those behind it wait.
NEW, PUBLISHED, PARKED, LEASED = 0, 1, 2, 3

_LOCK = text("SELECT last_sequence FROM outbox_state WHERE id = 1 FOR UPDATE")
# Subqueries with a LIMIT, not EXISTS, which an optimizer may answer from a scan of all that waits.
_CANDIDATES = (
    "SELECT candidate.id FROM outbox_events AS candidate FORCE INDEX (ix_outbox_events_unpublished) "
    "WHERE candidate.published = {state} AND (candidate.lease_until IS NULL OR candidate.lease_until < NOW(6)) {rules}"
    "ORDER BY candidate.id LIMIT :most"
)
_NONE_OF_ITS_AGGREGATE = (
    "AND (SELECT other.id FROM outbox_events AS other FORCE INDEX (ix_outbox_events_aggregate) "
    "WHERE other.aggregate_type = candidate.aggregate_type AND other.aggregate_id = candidate.aggregate_id "
    "AND other.published = {state} {rule} LIMIT 1) IS NULL "
)
# Was leased before, by one that died, or had it wait for its next try, or gave it back behind such a one.
_IS_NEXT = _NONE_OF_ITS_AGGREGATE.format(
    state=LEASED,
    rule="AND other.id <> candidate.id AND (other.sequence < candidate.sequence OR other.lease_until >= NOW(6))",
)
_NOT_BLOCKED = _NONE_OF_ITS_AGGREGATE.format(state=LEASED, rule="")
_IS_FIRST = _NONE_OF_ITS_AGGREGATE.format(state=NEW, rule="AND other.id < candidate.id")
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
    "SET published = 3, claim_token = :token, attempts = attempts + 1, "
    "lease_until = NOW(6) + INTERVAL :lease SECOND, sequence = COALESCE(sequence, :last + FIND_IN_SET(id, :places)) "
    "WHERE id IN :ids"
)
_GIVEN = text("UPDATE outbox_state SET last_sequence = :last WHERE id = 1")
_MARK = _by_ids(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET published = 1 WHERE id IN :ids AND claim_token = :token"
)
# Between half of the pause and all of it, so that those who failed together do not come back together.
_BACK_OFF = _by_ids(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET claim_token = NULL, failures = failures + :refusals, lease_until = "
    "NOW(6) + INTERVAL (LEAST(:longest, POW(2, LEAST(attempts, 20))) * (0.5 + RAND() / 2)) SECOND "
    "WHERE id IN :ids AND claim_token = :token AND published = 3"
)
_PARK = _by_ids(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) "
    "SET published = 2, failures = failures + 1, claim_token = NULL, "
    "lease_until = NULL WHERE id IN :ids AND claim_token = :token AND published = 3"
)
_RELEASE = _by_ids(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET claim_token = NULL, lease_until = NULL, attempts = attempts - 1 "
    "WHERE id IN :ids AND claim_token = :token AND published = 3"
)


class Outcome(Enum):
    """What became of a claimed event: FAILED through no fault of its own, REFUSED as what it is."""

    UNTRIED = auto()
    ACCEPTED = auto()
    FAILED = auto()
    REFUSED = auto()


@dataclass(frozen=True)
class Claimed:
    """An event under a lease: its message, None if its payload cannot be read, and how often it was refused before."""

    id: int
    aggregate: tuple[str, str]
    event_type: str
    body: str | None
    sequence: int
    failures: int


@dataclass(frozen=True)
class Claim:
    """Events in the order of their sequences, and the token that they are leased under."""

    token: str
    events: Sequence[Claimed]
    began: float

    def seconds_left(self) -> float:
        """How long the lease holds at least; counted from before it was made."""
        return LEASE_S - (time.monotonic() - self.began)


def claim() -> Claim:
    """Lease the oldest events that are free, committed, so that no lock is held while they are published."""
    token, began = secrets.token_hex(16), time.monotonic()
    return Claim(token, _lease(token), began)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _lease(token: str) -> list[Claimed]:
    with session() as transaction:
        last = int(transaction.execute(_LOCK).scalar_one())
        ids = _candidates(transaction)
        rows = transaction.execute(_FREE, {"ids": ids}).all() if ids else []
        if rows:
            ids = [row.id for row in rows]
            places = ",".join(map(str, ids))
            values = {"token": token, "lease": LEASE_S, "last": last, "ids": ids, "places": places}
            transaction.execute(_LEASE, values)
            transaction.execute(_GIVEN, {"last": last + len(ids)})
    claimed = [_claimed(row, last + place) for place, row in enumerate(rows, 1)]
    return sorted(claimed, key=lambda event: event.sequence)


def _candidates(transaction: Session) -> list[int]:
    """At most CLAIM ids of what is free; of an aggregate's new ones the smallest, for a transaction may add several."""
    following = transaction.execute(NEXT, {"most": HALF}).scalars().all()
    oldest = transaction.execute(OLDEST, {"most": HALF}).scalars().all()
    firsts = transaction.execute(FIRSTS, {"most": CLAIM}).scalars().all() if len(oldest) == HALF else []
    return list(dict.fromkeys([*following, *oldest, *firsts]))[:CLAIM]


def _claimed(row: Any, given: int) -> Claimed:
    sequence = given if row.sequence is None else row.sequence
    aggregate = (row.aggregate_type, row.aggregate_id)
    return Claimed(row.id, aggregate, row.event_type, _body(row, sequence), sequence, row.failures)


def _body(row: Any, sequence: int) -> str | None:
    try:
        payload = dict(json.loads(row.payload))
    except (ValueError, TypeError):
        return None
    return json.dumps({**payload, "eventType": row.event_type, "eventId": row.id, "sequence": sequence})


def settle(claimed: Claim, outcomes: Mapping[int, Outcome]) -> None:
    """Record what became of the events, where the lease is still ours; what is parked is logged as an error.

    What was accepted is marked. What failed or was refused waits, twice as long each time, or is parked after
    MOST_REFUSALS; what was not tried is free at once.
    """
    of = {outcome: [event for event in claimed.events if outcomes[event.id] is outcome] for outcome in Outcome}
    _mark(claimed.token, _ids(of[Outcome.ACCEPTED]))
    if len(of[Outcome.ACCEPTED]) == len(claimed.events):
        return
    parked = [event for event in of[Outcome.REFUSED] if event.failures + 1 >= MOST_REFUSALS]
    again = [event for event in of[Outcome.REFUSED] if event not in parked]
    _set_aside(claimed.token, _ids(of[Outcome.UNTRIED]), _ids(of[Outcome.FAILED]), _ids(again), _ids(parked))
    for event in parked:
        logger.error("event parked", extra={"event": event.id, "type": event.event_type})


def _ids(events: Sequence[Claimed]) -> list[int]:
    return [event.id for event in events]


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _mark(token: str, accepted: Sequence[int]) -> None:
    if accepted:
        with session() as transaction:
            transaction.execute(_MARK, {"token": token, "ids": accepted})


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _set_aside(
    token: str, untried: Sequence[int], failed: Sequence[int], again: Sequence[int], parked: Sequence[int]
) -> None:
    """Under the lock of the claims: one that skipped the row of the oldest would take those behind it."""
    with session() as transaction:
        transaction.execute(_LOCK)
        for statement, ids, values in (
            (_RELEASE, untried, {}),
            (_BACK_OFF, failed, {"refusals": 0, "longest": LONGEST_PAUSE_S}),
            (_BACK_OFF, again, {"refusals": 1, "longest": LONGEST_PAUSE_S}),
            (_PARK, parked, {}),
        ):
            if ids:
                transaction.execute(statement, {"token": token, "ids": ids, **values})
