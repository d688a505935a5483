"""Events that commit with the data they tell of; `shell.publishing_ops` says what becomes of them.

Guaranteed: an event is published, at least once, if and only if its transaction committed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlalchemy.orm import Session

from core.events import Event
from shell.settings import settings
from shell.utils.bulk_insert import insert_new
from shell.utils.queues import nudge

_COLUMNS = ("aggregate_type", "aggregate_id", "event_type", "payload")


def append_events(transaction: Session, events: Iterable[Event]) -> None:
    """Add events to the caller's transaction."""
    rows = [(e.aggregate_type, e.aggregate_id, e.event_type, json.dumps(e.payload)) for e in events]
    insert_new(transaction, "outbox_events", _COLUMNS, rows)


def nudge_publisher() -> None:
    """After a commit that wrote events: have them published now, not at the next minute."""
    nudge(settings().outbox_nudge_queue_url)
