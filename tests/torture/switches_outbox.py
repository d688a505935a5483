"""Events without what makes them follow their transactions, in order."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import text

from tests.torture.switching import Switch, instead, reword, swap, there

_ADD = text(
    "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published) "
    "VALUES (:aggregate, :id, :type, :payload, 1)"
)


def _with_the_transaction() -> None:
    instead("shell.outbox_ops:insert_new", _publish_at_once)


def _publish_at_once(transaction: Any, _table: str, _columns: Any, rows: Any) -> None:
    for aggregate, place, event_type, payload in rows:
        values = {"aggregate": aggregate, "id": place, "type": event_type, "payload": payload}
        number = transaction.execute(_ADD, values).lastrowid
        told = {**json.loads(payload), "eventType": event_type, "eventId": number, "sequence": number}
        there("shell.sns:publish_batch")([there("shell.sns:Message")(str(number), event_type, json.dumps(told))])


def _mark_last() -> None:
    def marking_first(publish: Any) -> Any:
        def marked(claimed: Any) -> Any:
            accepted = there("shell.claiming_ops:Outcome").ACCEPTED
            there("shell.publishing_ops:settle")(claimed, {event.id: accepted for event in claimed.events})
            return publish(claimed)

        return marked

    swap("shell.publishing_ops:_publish", marking_first)


def _order() -> None:
    blocked = there("shell.claiming_ops:_NOT_BLOCKED")
    reword("shell.claiming_ops:NEXT", there("shell.claiming_ops:_IS_NEXT"), "")
    reword("shell.claiming_ops:OLDEST", blocked, "")
    reword("shell.claiming_ops:FIRSTS", blocked + there("shell.claiming_ops:_IS_FIRST"), "")


def _lock() -> None:
    reword("shell.claiming_ops:_LOCK", " FOR UPDATE", "")


OF_THE_OUTBOX = {
    "outbox": Switch(
        "events are published at once, not when their transaction committed", "outbox_ops", _with_the_transaction
    ),
    "outbox-mark": Switch("events are marked before they are published", "publishing_ops", _mark_last),
    "outbox-order": Switch("events are claimed though earlier ones of their aggregate wait", "claiming_ops", _order),
    "outbox-lock": Switch("places are given out without the lock of their row", "claiming_ops", _lock),
}
