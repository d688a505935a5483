"""Several messages in one invocation: prepared ahead, failed alone, and returned when the time is over."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from core.errors import BusyError, ChunkBusyError, DatabaseUnavailableError, DeadlineNearError, ImportBusyError
from shell.deadline import MARGIN_S
from shell.lambda_handlers import pause_gc, sqs_handler
from tests.support.application.driver import Context, sqs_event

WAIT_S = 60
TIMEOUT_S = 60.0


def batch(count: int) -> dict[str, Any]:
    """An event with so many numbered messages."""
    return sqs_event(*({"number": number} for number in range(count)))


def failed(response: dict[str, Any]) -> list[int]:
    """The numbers of the messages that the handler did not handle."""
    return [int(failure["itemIdentifier"].removeprefix("message-")) for failure in response["batchItemFailures"]]


def test_a_message_is_prepared_while_the_one_before_is_worked_on() -> None:
    prepared = [threading.Event() for _ in range(3)]
    done: list[int] = []

    def prepare(message: dict[str, Any]) -> int:
        prepared[message["number"]].set()
        return int(message["number"])

    def work(number: int) -> None:
        assert prepared[min(number + 1, 2)].wait(WAIT_S)
        done.append(number)

    assert failed(sqs_handler(work, prepare=prepare)(batch(3), Context())) == []
    assert done == [0, 1, 2]


class KilledError(BaseException):
    """In place of the end of the function, which no code sees."""


def delivered(count: int, times: int) -> dict[str, Any]:
    """A batch in which each message is delivered for so many times."""
    event = batch(count)
    for record in event["Records"]:
        record["attributes"]["ApproximateReceiveCount"] = str(times)
    return event


def test_a_message_that_kills_the_function_keeps_no_other_from_it() -> None:
    done: set[int] = set()

    def work(message: dict[str, Any]) -> None:
        if message["number"] == 3:
            raise KilledError
        done.add(message["number"])

    for times in (1, 2):
        with pytest.raises(KilledError):
            sqs_handler(work, prepare=dict)(delivered(9, times), Context())
    assert done == {0, 1, 2, 4, 5, 6, 7, 8}


def test_what_was_delivered_before_comes_last_and_is_prepared_when_its_turn_comes() -> None:
    steps: list[tuple[str, int]] = []

    def step(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
        def take(message: dict[str, Any]) -> dict[str, Any]:
            steps.append((name, message["number"]))
            return message

        return take

    event = delivered(3, 1)
    event["Records"][0]["attributes"]["ApproximateReceiveCount"] = "3"
    assert failed(sqs_handler(step("work"), prepare=step("prepare"))(event, Context())) == []
    assert steps == [(name, number) for number in (1, 2, 0) for name in ("prepare", "work")]


def test_a_message_that_cannot_be_prepared_or_read_fails_alone() -> None:
    done: list[int] = []

    def prepare(message: dict[str, Any]) -> int:
        if message["number"] == 1:
            raise RuntimeError
        return int(message["number"])

    event = batch(4)
    event["Records"][2]["body"] = "no JSON"
    assert failed(sqs_handler(done.append, prepare=prepare)(event, Context())) == [1, 2]
    assert done == [0, 3]


class Rows:
    """The rows of a chunk, which can be watched."""


class KeptError(Exception):
    """An error in a cycle with the frame that raised it, as the last one of a retry is."""


def test_what_a_failed_message_had_in_memory_is_released(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[weakref.ref[Rows]] = []
    alive: list[int] = []

    def prepare(_: object) -> Rows:
        made = Rows()
        rows.append(weakref.ref(made))
        return made

    def work(prepared: Rows) -> None:
        alive.append(sum(each() is not None for each in rows[: len(alive) + 1]))
        try:
            raise KeyError(id(prepared))
        except KeyError as error:
            kept = KeptError()
            raise kept from error

    monkeypatch.setattr("shell.lambda_handlers.log_failure", lambda _: None)
    with pause_gc():
        assert failed(sqs_handler(work, prepare=prepare)(batch(4), Context())) == [0, 1, 2, 3]
        assert sum(each() is not None for each in rows) == 0
    assert alive == [1] * 4


@pytest.mark.parametrize("with_prepare", [False, True])
def test_messages_for_which_the_time_may_not_suffice_come_back_at_once(
    *, with_prepare: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, done = 1000.0, list[int]()
    postponed: list[int] = []
    monkeypatch.setattr("shell.deadline.time.monotonic", lambda: now)
    monkeypatch.setattr("shell.lambda_handlers.settings", lambda: None)
    monkeypatch.setattr("shell.lambda_handlers.postpone", lambda _url, _handle, seconds: postponed.append(seconds))

    def work(message: dict[str, Any]) -> None:
        nonlocal now
        done.append(message["number"])
        now += 5 if message["number"] else 10

    handler = sqs_handler(work, lambda _: "the queue", dict if with_prepare else None)
    # After 10, 5, 5, 5, 5, 5 and 5 seconds less than 20 are left.
    context = Context()
    monkeypatch.setattr(context, "get_remaining_time_in_millis", lambda: int((TIMEOUT_S - 1 + MARGIN_S) * 1000))
    assert failed(handler(batch(9), context)) == [7, 8]
    assert done == list(range(7))
    assert postponed == [0, 0]


def test_the_last_delivery_without_time_is_followed_by_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    now, sent = 1000.0, list[str]()
    monkeypatch.setattr("shell.deadline.time.monotonic", lambda: now)
    monkeypatch.setattr("shell.lambda_handlers.settings", lambda: None)
    monkeypatch.setattr("shell.lambda_handlers.send_again", lambda _url, body, _group, _delay: sent.append(body))

    def work(_: dict[str, Any]) -> None:
        nonlocal now
        now += 1_000

    event = batch(2)
    event["Records"][1]["attributes"]["ApproximateReceiveCount"] = "5"
    assert failed(sqs_handler(work, lambda _: "the queue")(event, Context())) == []
    assert [json.loads(body) for body in sent] == [{"number": 1}]


@pytest.mark.parametrize(
    ("error", "counted"),
    [
        (DatabaseUnavailableError(), 1),
        (ChunkBusyError(), 1),
        (BusyError(retry_after_s=1), 0),
        (ImportBusyError(retry_after_s=1), 0),
        (DeadlineNearError(), 0),
    ],
)
def test_copies_are_counted_as_an_outage_only_where_something_is_away(
    error: Exception, counted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, counts = list[str](), list[int]()
    monkeypatch.setattr("shell.lambda_handlers.settings", lambda: None)
    monkeypatch.setattr("shell.lambda_handlers.send_again", lambda _url, body, _group, _delay: sent.append(body))
    monkeypatch.setattr("shell.lambda_handlers.emit_counts", lambda MessagesSentAgain: counts.append(MessagesSentAgain))

    def work(_: object) -> None:
        raise error

    event = batch(1)
    event["Records"][0]["attributes"]["ApproximateReceiveCount"] = "5"
    assert failed(sqs_handler(work, lambda _: "the queue")(event, Context())) == []
    assert (len(sent), sum(counts)) == (1, counted)


@pytest.mark.parametrize(
    ("error", "level"),
    [
        (ChunkBusyError(), "WARNING"),
        (BusyError(retry_after_s=1), "WARNING"),
        (ImportBusyError(retry_after_s=1), "WARNING"),
        (DeadlineNearError(), "WARNING"),
        (DatabaseUnavailableError(), "ERROR"),
        (ValueError(), "ERROR"),
    ],
)
def test_only_what_failed_is_an_error_in_the_log(
    error: Exception, level: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Two deliveries of one chunk at once are usual; the second one waits."""

    def work(_: object) -> None:
        raise error

    sqs_handler(work)(batch(1), Context())
    assert [record.levelname for record in caplog.records if record.message == "failed"] == [level]
