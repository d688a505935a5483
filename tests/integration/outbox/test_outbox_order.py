"""The order of an aggregate's events, and that no aggregate waits for another one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.orm import Session

from shell.db.session import session
from shell.outbox.leases import FIRSTS, HALF, LEASE_SIZE, NEXT, OLDEST, PublishResult, lease_events, record_results
from shell.outbox.relay import publish_pending
from shell.outbox.writer import append_events
from shell.sns import Message, publish_batch
from tests.support.application.driver import World
from tests.support.database.counted_database import Database
from tests.support.database.server_status import statements
from tests.support.outbox.events import TENANT, THROTTLED, FakeTopic, append, event, later, waiting

INDEXES = {"ix_outbox_events_unpublished", "ix_outbox_events_aggregate", "PRIMARY"}


def sequences(topic: FakeTopic) -> list[int]:
    return [message["sequence"] for message in topic.messages]


def test_the_events_of_an_aggregate_go_one_a_call_in_rising_sequence(database: Database, topic: FakeTopic) -> None:
    append(*range(25), aggregate="a")
    assert publish_pending() == 25
    assert topic.published == list(range(25))
    assert topic.batches == [1] * 25
    assert sequences(topic) == sorted(set(sequences(topic)))


def test_a_high_water_mark_of_ids_loses_the_smaller_id_that_commits_later(database: Database) -> None:
    def naive(beyond: int) -> list[int]:
        found = database.query("SELECT id FROM outbox_events WHERE id > :beyond ORDER BY id", beyond=beyond)
        return [row.id for row in found]

    with Session(database.admin.execution_options(isolation_level="READ COMMITTED")) as slow:
        append_events(slow, [event(1)])
        append(2)
        (mark,) = naive(0)
        slow.commit()
    assert naive(mark) == []
    assert waiting(database) == [1, 2], "and the first of them was never seen"


def test_what_has_its_sequence_already_goes_before_a_smaller_id_without_one(
    database: Database, topic: FakeTopic
) -> None:
    with Session(database.admin.execution_options(isolation_level="READ COMMITTED")) as slow:
        append_events(slow, [event(1, "a")])
        append(2, aggregate="a")
        # The pause after a failure is of minutes.
        database.query("UPDATE outbox_events SET attempts = 8 ORDER BY id DESC LIMIT 1")
        topic.failing = {2: THROTTLED}
        assert publish_pending() == 0
        slow.commit()
    topic.failing = {}
    assert publish_pending() == 0, "its aggregate waits with it"
    later(database)
    assert publish_pending() == 2
    assert topic.published == [2, 1]
    assert sequences(topic) == sorted(sequences(topic))
    assert topic.messages[0]["eventId"] > topic.messages[1]["eventId"]


@contextmanager
def claiming(database: Database) -> Iterator[Connection]:
    """A publisher in the middle of a lease."""
    with database.admin.execution_options(isolation_level="READ COMMITTED").begin() as connection:
        connection.execute(text("SELECT last_sequence FROM outbox_state WHERE id = 1 FOR UPDATE"))
        yield connection


def test_a_claim_sees_the_leases_of_the_one_before_it(database: Database, topic: FakeTopic) -> None:
    append(1, aggregate="a")
    with ThreadPoolExecutor() as pool:
        with claiming(database) as other:
            lease = "published = 3, sequence = 1, lease_token = 'other', lease_until = NOW(6) + INTERVAL 60 SECOND"
            other.execute(text(f"UPDATE outbox_events SET {lease}"))
            append(2, aggregate="a")
            second = pool.submit(publish_pending)
            database.until_waiting(1)
        assert second.result() == 0
    assert topic.published == [], "the first is the other's, and the second comes after it"


def test_what_failed_is_given_back_between_claims_and_what_was_published_is_marked_at_any_time(
    database: Database,
) -> None:
    append(1, aggregate="a")
    append(2, aggregate="b")
    claimed = lease_events()
    (first, second) = (each.id for each in claimed.events)
    with ThreadPoolExecutor() as pool:
        with claiming(database):
            settling = pool.submit(
                record_results, claimed, {first: PublishResult.ACCEPTED, second: PublishResult.FAILED}
            )
            database.until_waiting(1)
            rows = database.query("SELECT published, lease_token FROM outbox_events ORDER BY id FOR UPDATE")
            assert [tuple(row) for row in rows] == [(1, claimed.token), (3, claimed.token)]
        settling.result()
    assert database.query("SELECT lease_token FROM outbox_events ORDER BY id")[1].lease_token is None


def test_claims_that_look_at_events_alone_publish_an_aggregates_out_of_order(
    database: Database, topic: FakeTopic
) -> None:
    append(1, 2, aggregate="a")

    def naive() -> Message:
        free = "published = 0 AND lease_until IS NULL ORDER BY id LIMIT 1"
        with session() as transaction:
            found = transaction.execute(text(f"SELECT id FROM outbox_events WHERE {free} FOR UPDATE SKIP LOCKED")).one()
            lease = "UPDATE outbox_events SET lease_until = NOW(6) + INTERVAL 60 SECOND WHERE id = :id"
            transaction.execute(text(lease), {"id": found.id})
            payload = transaction.execute(text("SELECT payload FROM outbox_events WHERE id = :id"), {"id": found.id})
            envelope = {"eventType": "thing.happened", "eventId": found.id, "sequence": found.id}
            return Message(
                str(found.id), "thing.happened", json.dumps(envelope | json.loads(payload.scalar_one())), TENANT
            )

    slow, quick = naive(), naive()
    publish_batch([quick])
    publish_batch([slow])
    assert topic.published == [2, 1]


def test_behind_a_failure_nothing_of_its_aggregate_is_tried(database: Database, topic: FakeTopic) -> None:
    append(0, 1, 2, aggregate="a")
    append(3, aggregate="b")
    topic.failing = {0: THROTTLED}
    assert publish_pending() == 1
    topic.failing = {}
    assert publish_pending() == 0
    later(database)
    assert publish_pending() == 3
    assert topic.published == [3, 0, 1, 2]
    attempts = database.query("SELECT attempts FROM outbox_events ORDER BY id")
    assert [row.attempts for row in attempts] == [2, 1, 1, 1], "what is given back was not tried"


def test_a_batch_with_two_of_an_aggregate_is_taken_in_part_and_out_of_order(
    database: Database, topic: FakeTopic
) -> None:
    append(0, 1, aggregate="a")
    topic.failing = {0: THROTTLED}
    naive = [Message(str(each.id), each.event_type, str(each.body), TENANT) for each in lease_events().events]
    publish_batch(naive)
    topic.failing = {}
    publish_batch(naive[:1])
    assert topic.published == [1, 0]


def test_what_a_dead_publisher_held_keeps_its_sequence_and_comes_first(database: Database, topic: FakeTopic) -> None:
    append(1, 2, aggregate="a")
    died = lease_events()
    append(3, aggregate="a")
    assert publish_pending() == 0
    later(database)
    assert publish_pending() == 3
    assert sequences(topic)[:2] == [each.sequence for each in died.events]
    assert topic.published == [1, 2, 3]


def test_a_publisher_stops_when_its_lease_may_be_over(
    database: Database, topic: FakeTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(*range(3), aggregate="a")
    left = iter([60.0, 11.0, 9.0])
    monkeypatch.setattr("shell.outbox.leases.OutboxLease.seconds_left", lambda _claim: next(left, 60.0))
    tried: list[int] = []
    topic.before = tried.extend
    assert publish_pending() == 3
    assert tried == [0, 1, 2]
    assert database.query("SELECT attempts FROM outbox_events ORDER BY id DESC LIMIT 1")[0].attempts == 1
    assert list(left) == []


def test_hundreds_of_one_aggregate_do_not_keep_the_others_waiting(database: Database, topic: FakeTopic) -> None:
    append(*range(3 * LEASE_SIZE), aggregate="hot")
    append(2001)
    calls: list[list[int]] = []

    def stop_after_a_claim(numbers: list[int]) -> None:
        calls.append(numbers)
        topic.outages = int(len(calls) > HALF)

    topic.before = stop_after_a_claim
    publish_pending()
    assert calls[0] == [0, 2001]
    assert topic.published == [0, 2001, *range(1, HALF)]


def test_a_window_full_of_events_that_cannot_go_hides_none_behind_it(database: Database, topic: FakeTopic) -> None:
    append(*range(LEASE_SIZE + 50), aggregate="blocked")
    topic.failing = {0: THROTTLED}
    publish_pending()
    append(2001)
    window = database.query(
        f"SELECT aggregate_id FROM outbox_events WHERE published = 0 ORDER BY id LIMIT {LEASE_SIZE}"
    )
    assert {row.aggregate_id for row in window} == {"blocked"}, "a filter finds nothing here"
    assert publish_pending() == 1
    assert topic.published == [2001]


def fill(database: Database, published: int) -> None:
    """So many published events, of hundreds of aggregates."""
    digits = "(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 "
    digits += "UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)"
    database.query(
        "INSERT INTO outbox_events (aggregate_type, aggregate_id, event_type, payload, published, sequence) "
        "SELECT 'thing', MOD(n, 500), 'thing.happened', '{}', 1, n + 1 FROM (SELECT a.d + 10 * b.d + 100 * c.d + "
        f"1000 * d.d + 10000 * e.d AS n FROM {digits} a, {digits} b, {digits} c, {digits} d, {digits} e) AS numbers "
        f"WHERE n < {published}"
    )


def reads(connection: Any) -> int:
    """How many rows and index entries the connection has read so far."""
    found = connection.execute(text("SHOW SESSION STATUS LIKE 'Handler_read%'"))
    return sum(int(row[1]) for row in found)


def test_a_claim_looks_through_indexes_whatever_was_published(database: Database) -> None:
    fill(database, 20_000)
    for aggregate in range(300):
        append(*range(3), aggregate=aggregate)
    database.query("UPDATE outbox_events SET published = 3, sequence = id WHERE published = 0 AND aggregate_id < '150'")
    for looking, found in ((NEXT, HALF), (OLDEST, LEASE_SIZE), (FIRSTS, LEASE_SIZE)):
        with database.admin.connect() as connection:
            explain = "EXPLAIN FORMAT=TRADITIONAL" if database.is_mysql else "EXPLAIN"
            plan = connection.execute(text(f"{explain} {looking.text}"), {"limit": found}).all()
            before = reads(connection)
            assert len(connection.execute(looking, {"limit": found}).all()) == found
            assert reads(connection) - before < 20 * found
        assert {row.key for row in plan} <= INDEXES
        assert {row.type for row in plan} <= {"ref", "range"}


def test_a_claim_takes_as_many_statements_for_one_event_as_for_a_hundred(world: World, topic: FakeTopic) -> None:
    publish_pending()
    append(1)
    one = statements(world, publish_pending)
    append(*range(LEASE_SIZE))
    assert statements(world, publish_pending) == one + 1 == 14, "one more, for there may be more than the oldest"
