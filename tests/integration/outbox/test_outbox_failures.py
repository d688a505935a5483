"""What SNS does not take: an outage costs time, poison is set aside, and what waits is measured."""

from __future__ import annotations

import json
from typing import Any

import pytest

import publish_outbox
from shell.maintenance.purge import purge_expired
from shell.observability import logger
from shell.outbox.leases import LONGEST_PAUSE_S, MAX_REFUSALS
from shell.outbox.relay import publish_pending, report_backlog
from tests.support.application.captured_log import Log
from tests.support.application.driver import Context
from tests.support.database.counted_database import Database
from tests.support.outbox.events import POISON, THROTTLED, FakeTopic, append, later, refusal, waiting

PARKED = "SELECT aggregate_id, failures, lease_until FROM outbox_events WHERE published = 2"
PAUSES = "SELECT TIMESTAMPDIFF(MICROSECOND, NOW(6), lease_until) / 1000000 FROM outbox_events WHERE published = 3"


def pauses(database: Database) -> list[float]:
    """For how many seconds each event still waits."""
    return [float(row[0]) for row in database.query(PAUSES)]


def tried(database: Database, times: int) -> int:
    """So many invocations, each when all pauses are over; returns how many events were published."""
    published = 0
    for _ in range(times):
        later(database)
        published += publish_pending()
    return published


def test_each_failure_doubles_the_pause_up_to_five_minutes(database: Database, topic: FakeTopic) -> None:
    append(1)
    topic.failing = {1: THROTTLED}
    for attempt in range(1, 12):
        assert tried(database, 1) == 0
        longest = min(2**attempt, LONGEST_PAUSE_S)
        (pause,) = pauses(database)
        assert longest / 2 - 1 < pause <= longest


def test_those_who_failed_together_do_not_come_back_together(database: Database, topic: FakeTopic) -> None:
    append(*range(10))
    topic.outages = 1
    publish_pending()
    database.query("UPDATE outbox_events SET attempts = 8")
    topic.outages = 1
    tried(database, 1)
    assert len({round(pause) for pause in pauses(database)}) > 5


OUTAGES = [refusal(code) for code in ("Throttling", "InternalError", "NotFound", "AuthorizationError", "KMSThrottling")]
WRONG_TOPIC = refusal("InvalidParameter", "Invalid parameter: TopicArn")


@pytest.mark.parametrize("outage", [*OUTAGES, WRONG_TOPIC], ids=str)
def test_an_outage_or_a_wrong_topic_dead_letters_nothing_however_long_it_is(
    database: Database, topic: FakeTopic, outage: Exception
) -> None:
    append(*range(3))
    topic.outages, topic.outage = 2 * MAX_REFUSALS, outage
    assert tried(database, 2 * MAX_REFUSALS) == 0
    assert database.query(PARKED) == []
    assert tried(database, 1) == 3


FAULTS = [THROTTLED, {"Code": "KMSAccessDenied", "SenderFault": True}, {"Code": "InternalError"}]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_entry_that_failed_for_no_fault_of_its_own_is_never_dead_lettered(
    database: Database, topic: FakeTopic, fault: dict[str, Any]
) -> None:
    append(1, 2)
    topic.failing = {1: fault}
    assert tried(database, 2 * MAX_REFUSALS) == 1
    assert waiting(database) == [1]


def test_poison_is_dead_lettered_and_no_longer_blocks_its_aggregate(
    database: Database, topic: FakeTopic, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log()
    monkeypatch.setattr(logger.handlers[0], "stream", log.stream)
    append(1, 2, aggregate="a")
    topic.failing = {1: POISON}
    assert tried(database, MAX_REFUSALS - 1) == 0
    assert tried(database, 1) == 1, "the one after it"
    assert [tuple(row) for row in database.query(PARKED)] == [("a", MAX_REFUSALS, None)]
    (line,) = [line for line in log.lines() if line["message"] == "event dead-lettered"]
    assert (line["level"], line["type"]) == ("ERROR", "thing.happened")
    assert "number" not in json.dumps(line)
    assert tried(database, 3) == 0


def test_poison_and_what_cannot_be_read_stop_no_other_message(database: Database, topic: FakeTopic) -> None:
    append(*range(10))
    database.query("UPDATE outbox_events SET payload = '{' WHERE aggregate_id = '1'")
    topic.invalid = {4}
    assert publish_pending() == 8
    assert topic.batches == [9, *[1] * 9], "a call that is refused as a whole is made again for each event"
    assert tried(database, MAX_REFUSALS - 1) == 0
    assert [row.aggregate_id for row in database.query(PARKED + " ORDER BY id")] == ["1", "4"]


def test_what_is_dead_lettered_is_tried_again_on_request(database: Database, topic: FakeTopic) -> None:
    append(1, 2, aggregate="a")
    topic.failing = {1: POISON}
    tried(database, MAX_REFUSALS)
    assert publish_outbox.lambda_handler({"releaseDeadLetters": True}, Context())["released"] == 1
    assert tried(database, MAX_REFUSALS - 2) == 0
    assert database.query(PARKED) == [], "all its attempts are before it again"
    tried(database, 1)
    assert len(database.query(PARKED)) == 1
    topic.failing = {}
    answer = publish_outbox.lambda_handler({"releaseDeadLetters": True}, Context())
    assert answer == {"released": 1, "published": 1, "batchItemFailures": []}
    assert topic.published == [2, 1]
    newer, older = topic.messages
    assert older["sequence"] < newer["sequence"], "who keeps the latest state drops it"
    assert publish_outbox.lambda_handler({}, Context()) == {"published": 0, "batchItemFailures": []}


def test_what_waits_is_measured_once_an_invocation(
    database: Database, topic: FakeTopic, capsys: pytest.CaptureFixture[str]
) -> None:
    append(1, 2, 3)
    database.query("UPDATE outbox_events SET created_at = NOW(6) - INTERVAL 1000 SECOND WHERE aggregate_id = '1'")
    database.query("UPDATE outbox_events SET published = 2 WHERE aggregate_id = '3'")
    topic.failing = {1: THROTTLED}
    publish_outbox.lambda_handler({}, Context())
    (metrics,) = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "CloudWatchMetrics" in line]
    assert metrics["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "ExhibitIngest"
    assert 1000 <= metrics["OutboxLagSeconds"][0] < 1060
    assert (metrics["OutboxWaiting"], metrics["OutboxDeadLettered"]) == ([1.0], [1.0])
    database.query("UPDATE outbox_events SET published = 1")
    assert report_backlog() == (0, 0.0, 0)


def test_a_call_that_fails_half_way_through_single_ones_leaves_the_rest_for_later(
    database: Database, topic: FakeTopic
) -> None:
    append(*range(4))
    topic.invalid = {0}

    def outage(numbers: list[int]) -> None:
        topic.outages = int(numbers == [2])

    topic.before = outage
    assert publish_pending() == 1
    assert waiting(database) == [0, 2, 3]
    assert database.query("SELECT failures FROM outbox_events ORDER BY id") == [(1,), (0,), (0,), (0,)]


def test_what_is_dead_lettered_is_never_purged(database: Database) -> None:
    append(1, 2, 3)
    for number, state in ((1, 1), (2, 2), (3, 3)):
        old = "published = :state, created_at = NOW(6) - INTERVAL 40 DAY"
        database.query(f"UPDATE outbox_events SET {old} WHERE aggregate_id = :number", state=state, number=number)
    assert purge_expired()["events"] == 1
    assert [row.published for row in database.query("SELECT published FROM outbox_events ORDER BY id")] == [2, 3]
