"""Events without what makes them follow their transactions, in order."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import text

from tests.torture.protections.switch import Switch, instead, reword, swap, there

_ADD = text(
    "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published) "
    "VALUES (:aggregate, :id, :type, :payload, 1)"
)


def _with_the_transaction() -> None:
    instead("shell.outbox.writer:insert_new", _publish_at_once)


def _publish_at_once(transaction: Any, _table: str, _columns: Any, rows: Any) -> None:
    for aggregate, place, event_type, payload in rows:
        values = {"aggregate": aggregate, "id": place, "type": event_type, "payload": payload}
        number = transaction.execute(_ADD, values).lastrowid
        document = {**json.loads(payload), "eventType": event_type, "eventId": number, "sequence": number}
        message = there("shell.sns:Message")(str(number), event_type, json.dumps(document), document["tenantId"])
        there("shell.sns:publish_batch")([message])


def _mark_last() -> None:
    def marking_first(publish: Any) -> Any:
        def marked(leased: Any) -> Any:
            accepted = there("shell.outbox.leases:PublishResult").ACCEPTED
            there("shell.outbox.relay:record_results")(leased, {event.id: accepted for event in leased.events})
            return publish(leased)

        return marked

    swap("shell.outbox.relay:_publish", marking_first)


def _order() -> None:
    blocked = there("shell.outbox.leases:_NOT_BLOCKED")
    reword("shell.outbox.leases:NEXT", there("shell.outbox.leases:_IS_NEXT"), "")
    reword("shell.outbox.leases:OLDEST", blocked, "")
    reword("shell.outbox.leases:FIRSTS", blocked + there("shell.outbox.leases:_IS_FIRST"), "")


def _lock() -> None:
    reword("shell.outbox.leases:_LOCK", " FOR UPDATE", "")


OF_THE_OUTBOX = {
    "outbox": Switch(
        "events are published at once, not after their transaction committed", "outbox.writer", _with_the_transaction
    ),
    "outbox-mark": Switch("events are marked before they are published", "outbox.relay", _mark_last),
    "outbox-order": Switch("events are leased though earlier ones of their aggregate wait", "outbox.leases", _order),
    "outbox-lock": Switch("sequences are assigned without the lock of their row", "outbox.leases", _lock),
}
