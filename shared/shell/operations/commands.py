"""Retry a tenant's events that could not be published.

Guaranteed: an event is retried only while it is dead-lettered, so that of several requests at once one retries it, and
none takes it from a publisher: an event that is leased is not dead-lettered. It is published at least once, with its
`eventId` and its `sequence`, as `shell.outbox.relay` does it; an event bus beside the topic, which takes each event by
itself, gets it once more.
Not guaranteed: that what was refused is accepted now. It is dead-lettered again after MAX_REFUSALS refusals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, text
from sqlalchemy.orm import Session

from core.caller import Caller
from core.contracts.operations import RETRIED, EventsRetried
from core.errors import NotFoundError
from shell.activity_log import Act, ActKind, record_act, record_no_act
from shell.operations.queries import list_dead_letters, refuse_limited
from shell.outbox import bus, leases
from shell.settings import settings
from shell.utils.db_helpers import count_changed_rows

_FIND = text("SELECT e.id FROM outbox_events AS e WHERE e.id = :id AND e.tenant_id = :tenant_id")
# In the order of the ids, in which every request locks them.
_OLDEST = text(
    "SELECT e.id FROM outbox_events AS e FORCE INDEX (ix_outbox_events_tenant) "
    "WHERE e.tenant_id = :tenant_id AND e.published IN :states ORDER BY e.id LIMIT :most"
).bindparams(bindparam("states", expanding=True))
# From DEAD_LETTERED of the bus to WAITING, and from that of SNS to LEASED.
_RELEASE = text(
    "UPDATE outbox_events FORCE INDEX (PRIMARY) SET published = IF(published = 5, 4, 3), failures = 0 "
    "WHERE id IN :ids AND published IN :states"
).bindparams(bindparam("ids", expanding=True), bindparam("states", expanding=True))


def retry_event(transaction: Session, caller: Caller, event_id: int) -> EventsRetried:
    """Have an event published again; one that was retried before stays as it is.

    Raises NotFoundError for an event that the tenant does not have or that never was dead-lettered, ForbiddenError for
    a caller who is limited to cases.
    """
    refuse_limited(caller)
    if transaction.execute(_FIND, {"id": event_id, "tenant_id": caller.tenant_id}).first() is None:
        raise NotFoundError(f"You have no event {event_id} that could not be published.")
    return _release(transaction, caller, [event_id])


def retry_events(transaction: Session, caller: Caller) -> EventsRetried:
    """Have the oldest RETRIED of the tenant's dead-lettered events published again.

    Raises ForbiddenError for a caller who is limited to cases.
    """
    refuse_limited(caller)
    values = {"tenant_id": caller.tenant_id, "states": _list_states(), "most": RETRIED}
    return _release(transaction, caller, transaction.execute(_OLDEST, values).scalars().all())


def _list_states() -> list[int]:
    return [leases.DEAD_LETTERED, *([bus.DEAD_LETTERED] if settings().event_bus_name else [])]


def _release(transaction: Session, caller: Caller, ids: Sequence[Any]) -> EventsRetried:
    values = {"ids": sorted(ids), "states": _list_states()}
    retried = count_changed_rows(transaction.execute(_RELEASE, values)) if ids else 0
    if retried:
        # One line for a request: the first event, and how many they are.
        record_act(transaction, caller, Act(ActKind.EVENTS_RETRIED, min(ids), None, {"events": retried}))
    else:
        record_no_act(transaction)
    left = list_dead_letters(transaction, caller)
    return EventsRetried(retried=retried, left=left.total, left_is_lower_bound=left.total_is_lower_bound)
