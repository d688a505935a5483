"""Events that commit with the data they tell of, and their publication.

Guaranteed: an event is published at least once if and only if its transaction committed; events are claimed and
published in the order of their ids. Each carries `eventId` and `sequence`, both its id: a consumer that saw an event
before skips it by the first, and one that keeps only the latest state drops what is older by the second.
Not guaranteed: order of arrival (an SNS topic has none), or that an event arrives once.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable
from datetime import timedelta

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.events import Event
from shell.invocation import seconds_left
from shell.observability import logger
from shell.settings import settings
from shell.sns import publish_messages
from shell.tables import OutboxEvents
from shell.utils.bulk_insert import insert_new
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.queues import nudge

CLAIM = 100
LEASE = timedelta(seconds=60)
_COLUMNS = ("aggregate_type", "aggregate_id", "event_type", "payload")

_FREE = text(
    "SELECT id, event_type, payload FROM outbox_events "
    "WHERE published = 0 AND (lease_until IS NULL OR lease_until < NOW(6)) "
    "ORDER BY id LIMIT :most FOR UPDATE SKIP LOCKED"
)
_CLAIM = text(
    "UPDATE outbox_events SET claim_token = :token, attempts = attempts + 1, "
    "lease_until = NOW(6) + INTERVAL :lease SECOND WHERE id IN :ids"
).bindparams(bindparam("ids", expanding=True))
_MARK = text("UPDATE outbox_events SET published = 1 WHERE id IN :ids AND claim_token = :token").bindparams(
    bindparam("ids", expanding=True)
)
_RELEASE = text(
    "UPDATE outbox_events SET lease_until = NULL WHERE id IN :ids AND claim_token = :token AND published = 0"
).bindparams(bindparam("ids", expanding=True))


def append_events(transaction: Session, events: Iterable[Event]) -> None:
    """Add events to the caller's transaction."""
    rows = [(e.aggregate_type, e.aggregate_id, e.event_type, json.dumps(e.payload)) for e in events]
    insert_new(transaction, OutboxEvents, _COLUMNS, rows)


def nudge_publisher() -> None:
    """After a commit that wrote events: have them published now, not at the next minute."""
    nudge(settings().outbox_nudge_queue_url)


def publish_pending() -> int:
    """Publish what is waiting, oldest first, until nothing is left or time is short; returns how many.

    Events that SNS did not accept are free again at once and are tried by the next caller.
    """
    published = 0
    while seconds_left() > 0:
        token = secrets.token_hex(16)
        claimed = _claim(token)
        if not claimed:
            break
        accepted = publish_messages([(str(event_id), message) for event_id, message in claimed])
        published += _settle(token, [event_id for event_id, _ in claimed], {int(key) for key in accepted})
        if len(accepted) < len(claimed):
            logger.warning("events left for later", extra={"count": len(claimed) - len(accepted)})
            break
    return published


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _claim(token: str) -> list[tuple[int, dict[str, object]]]:
    """Lease the oldest free events under the token, committed, so that no lock is held while publishing."""
    with session() as transaction:
        rows = transaction.execute(_FREE, {"most": CLAIM}).all()
        if rows:
            ids = [row.id for row in rows]
            transaction.execute(_CLAIM, {"token": token, "lease": int(LEASE.total_seconds()), "ids": ids})
    return [
        (row.id, {"eventType": row.event_type, "eventId": row.id, "sequence": row.id, **json.loads(row.payload)})
        for row in rows
    ]


@retry_on_db_conflict(resolve=lambda token, claimed, accepted: len(accepted))
def _settle(token: str, claimed: list[int], accepted: set[int]) -> int:
    """Mark what was accepted and free the rest; both only where our lease was not taken over."""
    refused = [event_id for event_id in claimed if event_id not in accepted]
    with session() as transaction:
        if accepted:
            transaction.execute(_MARK, {"token": token, "ids": sorted(accepted)})
        if refused:
            transaction.execute(_RELEASE, {"token": token, "ids": refused})
    return len(accepted)
