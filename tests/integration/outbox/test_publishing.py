"""Events: published if and only if their transaction committed, at least once, and without faults exactly once."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from core.events import Event
from shell.db.session import session
from shell.outbox.leases import MAX_REFUSALS, PublishResult, lease_events, record_results
from shell.outbox.relay import publish_pending
from shell.outbox.writer import append_events
from shell.sns import publish_sns_message
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.database.counted_database import Database, barrier, connection_id, together
from tests.support.outbox.events import FakeTopic, append, event, later, waiting

GHOST = {"eventType": "thing.happened", "eventId": 0, "sequence": 1, "tenantId": "tenant"}


def test_events_are_published_once_in_their_order(database: Database, topic: FakeTopic) -> None:
    append(*range(25))
    assert publish_pending() == 25
    assert topic.published == list(range(25))
    assert topic.batches == [10, 10, 5]
    assert publish_pending() == 0
    assert waiting(database) == []


def test_two_publishers_at_once_publish_each_event_once(database: Database, topic: FakeTopic) -> None:
    append(*range(300))
    meeting = barrier(2)

    def publisher() -> int:
        meeting.wait()
        return publish_pending()

    assert sum(together(publisher, publisher)) == 300
    assert Counter(topic.published) == Counter(range(300))


def test_publishers_that_read_without_claiming_publish_twice(database: Database, topic: FakeTopic) -> None:
    append(*range(10))
    meeting = barrier(2)

    def naive() -> None:
        with session() as transaction:
            found = transaction.execute(text("SELECT payload FROM outbox_events WHERE published = 0")).scalars().all()
            meeting.wait()
            for payload in found:
                publish_sns_message({**GHOST, **json.loads(payload)})
            transaction.execute(text("UPDATE outbox_events SET published = 1"))

    together(naive, naive)
    assert Counter(topic.published) == Counter([*range(10), *range(10)])


def test_a_topic_out_of_reach_loses_nothing(database: Database, topic: FakeTopic) -> None:
    append(*range(12))
    # The pause after a failure is of minutes.
    database.query("UPDATE outbox_events SET attempts = 8")
    topic.outages = 1
    assert publish_pending() == 0
    assert len(topic.batches) == 1, "no publisher continues"
    assert waiting(database) == list(range(12))
    assert publish_pending() == 2, "what was not tried does not wait"
    later(database)
    assert publish_pending() == 10


def test_publishing_before_the_commit_announces_what_never_happened(database: Database, topic: FakeTopic) -> None:
    with Session(database.admin.execution_options(isolation_level="READ COMMITTED")) as naive:
        naive.execute(text("INSERT INTO toy_payments (reference) VALUES (1)"))
        publish_sns_message({**GHOST, "number": 1})
        naive.rollback()
    assert database.query("SELECT * FROM toy_payments") == []
    assert topic.published == [1], "a ghost"


def test_a_unit_that_is_replayed_announces_once(database: Database, topic: FakeTopic) -> None:
    attempts: list[int] = []

    @retry_on_db_conflict
    def unit() -> None:
        with session() as transaction:
            attempts.append(1)
            append_events(transaction, [event(1)])
            publish_sns_message({**GHOST, "number": 99})
            if len(attempts) == 1:
                database.query(f"KILL {connection_id(transaction)}")
                transaction.execute(text("SELECT 1"))

    unit()
    publish_pending()
    assert topic.published.count(1) == 1
    assert topic.published.count(99) == 2, "what the unit does besides SQL is repeated"


@pytest.mark.parametrize(
    ("result", "failures"),
    [*((each, 0) for each in PublishResult), (PublishResult.REFUSED, MAX_REFUSALS)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_publisher_whose_lease_was_taken_over_records_nothing(
    database: Database, result: PublishResult, failures: int
) -> None:
    append(1)
    lease = lease_events()
    database.query("UPDATE outbox_events SET lease_token = 'other'")
    before = database.query("SELECT * FROM outbox_events")
    record_results(replace(lease, events=[replace(lease.events[0], failures=failures)]), {before[0].id: result})
    assert database.query("SELECT * FROM outbox_events") == before


def test_a_late_publisher_that_frees_events_by_their_ids_has_them_published_twice(
    database: Database, topic: FakeTopic
) -> None:
    """The negative control: what the token is for."""
    append(1)

    def another(_numbers: list[int]) -> None:
        database.query("UPDATE outbox_events SET lease_until = NULL")
        publish_pending()

    topic.before = topic.once(another)
    publish_pending()
    assert topic.published == [1, 1]


def test_a_batch_stays_below_what_sns_takes(database: Database, topic: FakeTopic) -> None:
    with session() as transaction:
        large = {"number": 1, "filler": "x" * 60_000}
        append_events(transaction, [Event("thing.happened", "thing", str(n), large, "tenant") for n in range(9)])
    assert publish_pending() == 9
    assert max(topic.batches) <= 4


def test_a_warning_is_sent_now_and_a_failure_of_that_is_no_error(topic: FakeTopic) -> None:
    warning = {**GHOST, "number": 5}
    assert publish_sns_message(warning)
    topic.outages = 1
    assert not publish_sns_message(warning)
    assert topic.published == [5]
