"""The event bus gets what SNS gets, in order, and neither target loses, delays or reorders what the other gets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError

from shell.outbox import bus, leases
from shell.outbox.relay import publish_pending, release_dead_letters, report_backlog
from shell.settings import settings
from tests.support.database.counted_database import Database, barrier, together
from tests.support.outbox.events import POISON, FakeTopic, append, later


@dataclass
class FakeBus:
    """EventBridge as far as it is used here; `failing` gives the error code of an event by its number."""

    failing: dict[int, str] = field(default_factory=dict)
    outages: int = 0
    events: list[dict[str, Any]] = field(default_factory=list)
    calls: list[list[int]] = field(default_factory=list)

    @property
    def published(self) -> list[int]:
        """The numbers of the events that were accepted, in their order."""
        return [each["number"] for each in self.events]

    def put_events(self, *, Entries: list[dict[str, Any]]) -> dict[str, Any]:
        """Accept what is not to fail."""
        bodies = [json.loads(each["Detail"]) for each in Entries]
        self.calls.append([body["number"] for body in bodies])
        if self.outages:
            self.outages -= 1
            raise EndpointConnectionError(endpoint_url="bus")
        codes = [self.failing.get(body["number"]) for body in bodies]
        self.events += [body for body, code in zip(bodies, codes, strict=True) if code is None]
        return {"Entries": [{"ErrorCode": code} if code else {"EventId": "1"} for code in codes]}


@pytest.fixture
def other(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeBus]:
    """The event bus."""
    made = FakeBus()
    monkeypatch.setenv("EVENT_BUS_NAME", "default")
    settings.cache_clear()
    monkeypatch.setattr(bus, "event_bridge", lambda: made)
    yield made
    monkeypatch.undo()
    settings.cache_clear()


def waiting_for_bus(database: Database) -> list[int]:
    rows = database.query("SELECT payload FROM outbox_events WHERE published = 4 ORDER BY id")
    return [json.loads(row[0])["number"] for row in rows]


def test_both_targets_get_the_same_bodies(database: Database, topic: FakeTopic, other: FakeBus) -> None:
    append(*range(25))
    assert publish_pending() == 25
    assert other.published == topic.published == list(range(25))
    assert other.events == topic.messages
    assert publish_pending() == 0
    assert other.published == list(range(25)), "once"
    assert report_backlog().events == 0


def test_without_a_bus_there_is_no_row_for_it(database: Database, topic: FakeTopic) -> None:
    append(1, 2)
    assert publish_pending() == 2
    assert database.query("SELECT COUNT(*) FROM outbox_events")[0][0] == 2


def test_a_bus_out_of_reach_delays_nothing_at_the_topic(database: Database, topic: FakeTopic, other: FakeBus) -> None:
    other.outages = 1
    append(*range(12))
    assert publish_pending() == 12
    assert (topic.published, other.published) == (list(range(12)), [])
    assert (waiting_for_bus(database), report_backlog().events) == (list(range(12)), 12)
    publish_pending()
    assert other.published == list(range(12))


def test_a_topic_out_of_reach_stops_nothing_that_waits_for_the_bus(
    database: Database, topic: FakeTopic, other: FakeBus
) -> None:
    other.outages = 1
    append(1)
    publish_pending()
    topic.outages = 1
    append(2)
    publish_pending()
    assert (topic.published, other.published) == ([1], [1])
    later(database)
    publish_pending()
    assert (topic.published, other.published) == ([1, 2], [1, 2])


def test_nothing_of_an_aggregate_overtakes_what_the_bus_did_not_take(
    database: Database, topic: FakeTopic, other: FakeBus
) -> None:
    append(1, 2, 3, aggregate="a")
    append(4, 5, aggregate="b")
    other.failing = {2: "ThrottlingException"}
    publish_pending()
    assert topic.published == [1, 4, 2, 5, 3]
    assert other.published == [1, 4, 5]
    other.failing = {}
    publish_pending()
    assert other.published == [1, 4, 5, 2, 3]


def test_what_the_bus_refuses_is_dead_lettered_for_the_bus_alone(
    database: Database, topic: FakeTopic, other: FakeBus
) -> None:
    append(1, 2, aggregate="a")
    other.failing = {1: "MalformedDetail"}
    for _ in range(bus.MAX_REFUSALS):
        publish_pending()
    publish_pending()
    assert (topic.published, other.published) == ([1, 2], [2])
    assert report_backlog().dead_lettered == 1
    other.failing = {}
    assert release_dead_letters() == 1
    publish_pending()
    assert (topic.published, other.published) == ([1, 2], [2, 1])


def test_what_the_topic_refuses_for_ever_reaches_the_bus(database: Database, topic: FakeTopic, other: FakeBus) -> None:
    append(1)
    topic.failing = {1: POISON}
    for _ in range(leases.MAX_REFUSALS):
        publish_pending()
        later(database)
    publish_pending()
    assert (topic.published, other.published) == ([], [1])


def test_two_relays_at_once_lose_and_reorder_nothing(database: Database, topic: FakeTopic, other: FakeBus) -> None:
    for number in range(60):
        append(number, aggregate=str(number % 3))
    meeting = barrier(2)

    def relay() -> None:
        meeting.wait()
        publish_pending()

    together(relay, relay)
    publish_pending()
    firsts = list(dict.fromkeys(other.published))
    assert sorted(firsts) == list(range(60))
    for aggregate in range(3):
        of_one = [number for number in firsts if number % 3 == aggregate]
        assert of_one == sorted(of_one)


def test_without_the_copy_the_bus_loses_what_the_topic_has(
    database: Database, topic: FakeTopic, other: FakeBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    monkeypatch.setattr(leases, "copy_to_bus", lambda *_: None)
    append(1)
    publish_pending()
    assert (topic.published, other.published) == ([1], [])


def test_eventbridge_takes_the_entries(
    database: Database, topic: FakeTopic, aws_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Moto checks what EventBridge does, and delivers to a queue what a rule selects."""
    events, sqs = boto3.client("events"), boto3.client("sqs")
    queue = sqs.create_queue(QueueName="of-the-bus")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    events.create_event_bus(Name="of-the-test")
    pattern = json.dumps(
        {"source": [bus.SOURCE], "detail-type": ["thing.happened"], "detail": {"tenantId": ["tenant"]}}
    )
    events.put_rule(Name="all", EventBusName="of-the-test", EventPattern=pattern)
    events.put_targets(Rule="all", EventBusName="of-the-test", Targets=[{"Id": "queue", "Arn": arn}])
    monkeypatch.setenv("EVENT_BUS_NAME", "of-the-test")
    settings.cache_clear()
    append(1, 2)
    publish_pending()
    received = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10)["Messages"]
    details = [json.loads(each["Body"])["detail"] for each in received]
    assert sorted(details, key=lambda each: each["sequence"]) == topic.messages
    monkeypatch.undo()
    settings.cache_clear()
