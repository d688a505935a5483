"""Write events in the transaction of the data that they describe; `shell.outbox.relay` publishes them.

Guaranteed: an event is published, at least once, if and only if its transaction committed. The message that wakes the
relay after the COMMIT can be lost with the worker, so another one, with a delay, is sent before: once a minute for all
events of a process. No schedule looks for events, so that a database without work can pause.
An SQS that does not answer holds up a transaction for 3 seconds at most, and not again for PAUSE_S.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sqlalchemy.orm import Session

from core.events import Event
from shell.aws.sqs import wake
from shell.db.bulk_insert import insert_new
from shell.settings import settings

# A delayed wake is delivered at least DELAY_S - PERIOD_S after any event that was appended in the meantime: later than
# the COMMIT, because a transaction that has written events has little left to do.
DELAY_S, PERIOD_S = 300, 60
# The delayed wake is sent while the transaction holds locks: one attempt, and no other one for this time if it fails.
PAUSE_S = 10
# Version 00 only: https://www.w3.org/TR/trace-context/#traceparent-header
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
_last_delayed_wake: list[float] = []
_last_failure: list[float] = []
_COLUMNS = ("aggregate_type", "aggregate_id", "event_type", "payload")


def append_events(transaction: Session, events: Iterable[Event]) -> None:
    """Add events, with their tenants, to the caller's transaction."""
    rows = [(e.aggregate_type, e.aggregate_id, e.event_type, _format_payload(e)) for e in events]
    if rows:
        _wake_relay_later()
    insert_new(transaction, "outbox_events", _COLUMNS, rows)


def _format_payload(event: Event) -> str:
    cause = _traceparent.get()
    return json.dumps({**event.payload, "tenantId": event.tenant_id} | ({"traceparent": cause} if cause else {}))


@contextmanager
def caused_by(traceparent: str | None) -> Iterator[None]:
    """Give the events that the block appends the `traceparent` of the request that caused them (W3C Trace Context).

    A text of another form is ignored, as the specification requires.
    """
    is_valid = traceparent is not None and _TRACEPARENT.fullmatch(traceparent) is not None
    token = _traceparent.set(traceparent if is_valid else None)
    try:
        yield
    finally:
        _traceparent.reset(token)


def wake_relay() -> None:
    """Start the relay now instead of in a few minutes; call it after a commit that wrote events."""
    wake(settings().outbox_wake_queue_url)


def _wake_relay_later() -> None:
    """Send the delayed wake, unless this process has sent one within PERIOD_S or could not within PAUSE_S."""
    # The clock of the day: a frozen process does not notice the time on the monotonic one.
    now = time.time()
    if _is_within(PERIOD_S, _last_delayed_wake, now) or _is_within(PAUSE_S, _last_failure, now):
        return
    sent = wake(settings().outbox_wake_queue_url, DELAY_S, attempts=1)
    (_last_delayed_wake if sent else _last_failure)[:] = [now]


def _is_within(period_s: float, last: list[float], now: float) -> bool:
    return bool(last) and 0 <= now - last[0] < period_s
