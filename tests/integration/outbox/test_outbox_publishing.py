"""Events: published if and only if their transaction committed, at least once, and without faults exactly once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Session

from core.events import Event
from shell import sns
from shell.db.session import session
from shell.outbox.leases import LeasedEvent, OutboxLease, PublishResult, record_results
from shell.outbox.relay import publish_pending
from shell.outbox.writer import append_events
from shell.sns import publish_sns_message
from shell.utils.db_helpers import retry_on_db_conflict
from tests.support.database import Database, barrier, connection_id, together
from tests.support.outbox import FakeTopic, append, event, later, waiting
from tests.support.world import World

GHOST = {"eventType": "thing.happened", "eventId": 0, "sequence": 1}


@pytest.fixture
def topic(database: Database, monkeypatch: pytest.MonkeyPatch) -> FakeTopic:
    """The events topic."""
    made = FakeTopic()
    monkeypatch.setattr(sns, "sns", lambda: made)
    return made


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
    topic.outages = 1
    assert publish_pending() == 0
    assert len(topic.batches) == 1, "nobody goes on asking"
    assert waiting(database) == list(range(12))
    assert publish_pending() == 2, "what was not tried does not wait"
    later(database)
    assert publish_pending() == 10


def test_an_event_of_a_transaction_that_is_rolled_back_is_never_published(database: Database, topic: FakeTopic) -> None:
    with Session(database.admin.execution_options(isolation_level="READ COMMITTED")) as other:
        append_events(other, [event(1)])
        assert publish_pending() == 0, "an event that is not committed holds nobody up"
        other.rollback()
    assert publish_pending() == 0
    assert topic.published == []


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


def test_a_publisher_whose_lease_was_taken_over_does_not_settle_for_the_other(
    database: Database, topic: FakeTopic
) -> None:
    append(1)
    topic.before = lambda _numbers: database.query("UPDATE outbox_events SET lease_token = 'other'")
    assert publish_pending() == 1
    assert waiting(database) == [1]


def dead_of(database: Database) -> OutboxLease:
    """The claim of a publisher whose lease another has taken over."""
    (row,) = database.query("SELECT id FROM outbox_events")
    return OutboxLease("dead", [LeasedEvent(row.id, ("thing", "1"), "thing.happened", "{}", 1, 0)], 0.0)


def settled_by_token(database: Database) -> None:
    dead = dead_of(database)
    record_results(dead, {dead.events[0].id: PublishResult.UNTRIED})


def settled_by_id(database: Database) -> None:
    """Naive."""
    database.query("UPDATE outbox_events SET lease_until = NULL")


@pytest.mark.parametrize(("settled", "times"), [(settled_by_token, 1), (settled_by_id, 2)])
def test_only_by_its_token_does_a_late_publisher_leave_the_others_lease_alone(
    database: Database, topic: FakeTopic, settled: Callable[[Database], None], times: int
) -> None:
    append(1)

    def another(_numbers: list[int]) -> None:
        settled(database)
        publish_pending()

    topic.before = topic.once(another)
    publish_pending()
    assert topic.published == [1] * times


def test_a_batch_stays_below_what_sns_takes(database: Database, topic: FakeTopic) -> None:
    with session() as transaction:
        large = {"number": 1, "filler": "x" * 60_000}
        append_events(transaction, [Event("thing.happened", "thing", str(n), large) for n in range(9)])
    assert publish_pending() == 9
    assert max(topic.batches) <= 4


def test_a_warning_is_sent_now_and_a_failure_of_that_is_no_error(topic: FakeTopic) -> None:
    warning = {**GHOST, "number": 5}
    assert publish_sns_message(warning)
    topic.outages = 1
    assert not publish_sns_message(warning)
    assert topic.published == [5]


def test_the_real_client_and_topic_take_the_same_calls(world: World) -> None:
    append(*range(3))
    assert world.publish() == 3
    assert world.query("SELECT COUNT(*) FROM outbox_events WHERE published = 1")[0][0] == 3
