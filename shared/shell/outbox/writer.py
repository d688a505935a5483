"""Write events in the transaction of the data that they describe; `shell.outbox.relay` publishes them.

Guaranteed: an event is published, at least once, if and only if its transaction committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlalchemy.orm import Session

from core.events import Event
from shell.aws.sqs import wake
from shell.db.bulk_insert import insert_new
from shell.settings import settings

_COLUMNS = ("aggregate_type", "aggregate_id", "event_type", "payload")


def append_events(transaction: Session, events: Iterable[Event]) -> None:
    """Add events, with their tenants, to the caller's transaction."""
    rows = [(e.aggregate_type, e.aggregate_id, e.event_type, _format_payload(e)) for e in events]
    insert_new(transaction, "outbox_events", _COLUMNS, rows)


def _format_payload(event: Event) -> str:
    return json.dumps({**event.payload, "tenantId": event.tenant_id})


def wake_relay() -> None:
    """Start the relay now instead of at the next minute; call it after a commit that wrote events."""
    wake(settings().outbox_wake_queue_url)
