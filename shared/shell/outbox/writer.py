"""Write events in the transaction of the data that they describe; `shell.outbox.relay` publishes them.

Guaranteed: an event is published, at least once, if and only if its transaction committed. The message that wakes the
relay after the COMMIT can be lost with the worker, so another one, with a delay, is sent before: once a minute for all
events of a process. No schedule looks for events, so that a database without work can pause.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable

from sqlalchemy.orm import Session

from core.events import Event
from shell.aws.sqs import wake
from shell.db.bulk_insert import insert_new
from shell.settings import settings

# A delayed wake is delivered at least DELAY_S - PERIOD_S after any event that was appended in the meantime: later than
# the COMMIT, because a transaction that has written events has little left to do.
DELAY_S, PERIOD_S = 300, 60
_last_delayed_wake: list[float] = []
_COLUMNS = ("aggregate_type", "aggregate_id", "event_type", "payload")


def append_events(transaction: Session, events: Iterable[Event]) -> None:
    """Add events, with their tenants, to the caller's transaction."""
    rows = [(e.aggregate_type, e.aggregate_id, e.event_type, _format_payload(e)) for e in events]
    if rows:
        _wake_relay_later()
    insert_new(transaction, "outbox_events", _COLUMNS, rows)


def _format_payload(event: Event) -> str:
    return json.dumps({**event.payload, "tenantId": event.tenant_id})


def wake_relay() -> None:
    """Start the relay now instead of in a few minutes; call it after a commit that wrote events."""
    wake(settings().outbox_wake_queue_url)


def _wake_relay_later() -> None:
    """Send the delayed wake, unless this process has sent one within PERIOD_S."""
    # The clock of the day: a frozen process does not notice the time on the monotonic one.
    now = time.time()
    if _last_delayed_wake and 0 <= now - _last_delayed_wake[0] < PERIOD_S:
        return
    if wake(settings().outbox_wake_queue_url, DELAY_S):
        _last_delayed_wake[:] = [now]
