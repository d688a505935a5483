"""When a failed message is delivered again: soon, when another worker is done, or after the visibility timeout."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from core.errors import (
    BusyError,
    ChunkBusyError,
    DatabaseUnavailableError,
    FinalConflictError,
    ImportBusyError,
    QueueUnavailableError,
    SettingsError,
    StorageRefusedError,
    StorageUnavailableError,
    TransactionConflictError,
)
from shell.lambda_handlers import MAX_DELIVERIES, choose_wait, sqs_handler
from shell.observability import logger
from tests.support.application.driver import Context, sqs_event

FAILED = {"batchItemFailures": [{"itemIdentifier": "message-0"}]}
OUTAGES = [
    *(DatabaseUnavailableError(), StorageUnavailableError(), QueueUnavailableError(), ChunkBusyError()),
    *(TransactionConflictError(), SettingsError("incomplete")),
]
Changed = list[tuple[str, str, int]]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What the application's logger writes."""
    stream = io.StringIO()
    monkeypatch.setattr(logger.registered_handler, "stream", stream)
    return stream


def levels(written: io.StringIO) -> list[tuple[str, str]]:
    """Level and message of each line."""
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    return [(line["level"], line["message"]) for line in lines]


class Queues:
    """SQS that remembers the requested changes and messages, and may refuse to."""

    def __init__(self, error: Exception | None) -> None:
        self.changed: Changed = []
        self.sent: list[Any] = []
        self._error = error

    def change_message_visibility(self, **request: Any) -> None:
        self.changed.append((request["QueueUrl"], request["ReceiptHandle"], request["VisibilityTimeout"]))
        if self._error:
            raise self._error

    def send_message_batch(self, **request: Any) -> dict[str, Any]:
        self.sent += request["Entries"]
        if self._error:
            raise self._error
        return {}


def deliver(
    error: Exception | None, monkeypatch: pytest.MonkeyPatch, refusal: Exception | None = None, deliveries: int = 1
) -> tuple[Any, Changed]:
    """One message whose work ends with this error, at its nth delivery; the answer and the requests to SQS."""
    answer, queues = deliver_to(Queues(refusal), error, monkeypatch, deliveries)
    return answer, queues.changed


def deliver_to(
    queues: Queues, error: Exception | None, monkeypatch: pytest.MonkeyPatch, deliveries: int
) -> tuple[Any, Queues]:
    """The same, with this SQS."""
    monkeypatch.setattr("shell.aws.sqs.sqs", lambda: queues)
    monkeypatch.setattr("shell.lambda_handlers.settings", lambda: None)

    def work(_: dict[str, Any]) -> None:
        if error:
            raise error

    event = sqs_event({})
    attributes = {"ApproximateReceiveCount": str(deliveries), "MessageGroupId": "acme"}
    event["Records"][0]["attributes"] |= attributes
    return sqs_handler(work, lambda _: "the queue")(event, Context()), queues


@pytest.mark.parametrize("busy", [ImportBusyError(retry_after_s=42), BusyError(retry_after_s=42)])
def test_a_busy_message_fails_and_comes_back_when_it_is_worth_it(
    busy: Exception, written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert deliver(busy, monkeypatch) == (FAILED, [("the queue", "handle", 42)])
    assert levels(written) == [("WARNING", "failed")]


def test_a_failure_that_is_no_outage_comes_back_soon_and_less_soon_each_time(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    for error in (RuntimeError("no"), StorageRefusedError(), FinalConflictError()):
        for deliveries, wait_s in ((1, 5), (2, 10), (5, 80), (1000, 360)):
            found = deliver(error, monkeypatch, deliveries=deliveries)
            assert found == (FAILED, [("the queue", "handle", wait_s)])
    assert set(levels(written)) == {("ERROR", "failed")}


@pytest.mark.parametrize("outage", OUTAGES, ids=repr)
def test_an_outage_uses_up_no_deliveries_within_minutes(outage: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    assert deliver(outage, monkeypatch, deliveries=MAX_DELIVERIES - 1) == (FAILED, [])
    assert choose_wait(outage, 4) is None


@pytest.mark.parametrize("outage", [*OUTAGES, ImportBusyError(retry_after_s=42)], ids=repr)
def test_the_last_delivery_in_an_outage_is_followed_by_a_copy_in_the_same_group(
    outage: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, queues = deliver_to(Queues(None), outage, monkeypatch, MAX_DELIVERIES)
    assert (answer, queues.changed) == ({"batchItemFailures": []}, [])
    assert queues.sent == [{"Id": "0", "MessageBody": "{}", "DelaySeconds": 360, "MessageGroupId": "acme"}]


def test_a_copy_that_was_not_sent_leaves_the_message(written: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    refusal = RuntimeError("no")
    answer, queues = deliver_to(Queues(refusal), DatabaseUnavailableError(), monkeypatch, MAX_DELIVERIES)
    assert (answer, len(queues.sent)) == (FAILED, 1)
    assert ("WARNING", "message not postponed") in levels(written)


def test_what_succeeds_is_not_postponed(written: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    assert deliver(None, monkeypatch) == ({"batchItemFailures": []}, [])
    assert levels(written) == []


def test_a_queue_that_cannot_postpone_or_is_not_named_changes_nothing_else(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer, _ = deliver(ImportBusyError(retry_after_s=42), monkeypatch, RuntimeError("no"))
    assert answer == FAILED
    assert levels(written) == [("WARNING", "message not postponed"), ("WARNING", "failed")][::-1]
    assert sqs_handler(_fail)(sqs_event({}), Context()) == FAILED


def _fail(_: dict[str, Any]) -> None:
    raise RuntimeError("no")
