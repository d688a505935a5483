"""A topic to publish to, events to publish, and what of them the database holds."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError

from core.events import Event
from shell.db.session import session
from shell.outbox.writer import append_events
from tests.support.database.counted_database import Database

TENANT = "tenant"
THROTTLED = {"Code": "Throttled", "SenderFault": False}
POISON = {"Code": "InvalidParameter", "SenderFault": True}


@dataclass
class FakeTopic:
    """SNS as far as it is used here: what it was given, and what it refuses, by the events' numbers.

    `failing` gives the fault of an entry; a call with a number of `invalid` is refused as a whole; the next `outages`
    calls fail with `outage`; `before` is called with the numbers of every call.
    """

    failing: dict[int, dict[str, Any]] = field(default_factory=dict)
    invalid: set[int] = field(default_factory=set)
    outages: int = 0
    outage: Exception = field(default_factory=lambda: EndpointConnectionError(endpoint_url="topic"))
    before: Callable[[list[int]], object] = lambda _numbers: None
    messages: list[dict[str, Any]] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def published(self) -> list[int]:
        """The numbers of the events that were accepted, in their order."""
        return [message["number"] for message in self.messages]

    def publish_batch(self, *, TopicArn: str, PublishBatchRequestEntries: list[dict[str, Any]]) -> dict[str, Any]:
        """Accept what is not refused, or fail altogether."""
        given = {entry["Id"]: message_of(entry) for entry in PublishBatchRequestEntries}
        numbers = [message["number"] for message in given.values()]
        self.before(numbers)
        with self._lock:
            self.batches.append(len(given))
            self._fail_altogether(numbers)
            accepted = {key: message for key, message in given.items() if message["number"] not in self.failing}
            self.messages += accepted.values()
        failed = [
            {"Id": key, **self.failing[message["number"]]} for key, message in given.items() if key not in accepted
        ]
        return {"Successful": [{"Id": key} for key in accepted], "Failed": failed}

    def once(self, what: Callable[[list[int]], object]) -> Callable[[list[int]], object]:
        """What is done before the first call alone, and so not before those that it makes itself."""

        def first(numbers: list[int]) -> None:
            self.before = lambda _numbers: None
            what(numbers)

        return first

    def _fail_altogether(self, numbers: Sequence[int]) -> None:
        if self.outages:
            self.outages -= 1
            raise self.outage
        if self.invalid.intersection(numbers):
            raise refusal("InvalidParameter", "Invalid parameter: Message too long")


def refusal(code: str, message: str = "") -> ClientError:
    """A call that is refused as a whole."""
    return ClientError({"Error": {"Code": code, "Message": message}}, "PublishBatch")


def message_of(entry: dict[str, Any]) -> dict[str, Any]:
    """The message in an entry, which is whole."""
    message: dict[str, Any] = json.loads(entry["Message"])
    assert message["eventId"] == int(entry["Id"])
    assert message["sequence"] > 0
    assert entry["MessageAttributes"]["eventType"]["StringValue"] == message["eventType"] == "thing.happened"
    assert entry["MessageAttributes"]["tenantId"]["StringValue"] == message["tenantId"] == TENANT
    return message


def event(number: int, aggregate: object = None) -> Event:
    """An event of an aggregate, by default one of its own."""
    place = str(number if aggregate is None else aggregate)
    return Event("thing.happened", "thing", place, {"number": number}, TENANT)


def append(*numbers: int, aggregate: object = None) -> None:
    """Commit events."""
    with session() as transaction:
        append_events(transaction, [event(number, aggregate) for number in numbers])


def waiting(database: Database) -> list[int]:
    """The numbers of the events that wait, by their ids."""
    rows = database.query("SELECT payload FROM outbox_events WHERE published IN (0, 3) ORDER BY id")
    return [json.loads(row.payload)["number"] for row in rows]


def later(database: Database) -> None:
    """All leases and pauses are over."""
    database.query("UPDATE outbox_events SET lease_until = NOW(6) - INTERVAL 1 SECOND WHERE lease_until IS NOT NULL")
