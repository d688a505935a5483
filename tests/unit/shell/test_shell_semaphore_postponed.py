"""A message whose work somebody else is doing: reported as failed, and postponed until that one's time is over."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from core.errors import BusyError, ChunkBusyError, ImportBusyError
from shell.lambda_handlers import sqs_handler
from shell.observability import logger
from tests.support.world import Context, sqs_event

FAILED = {"batchItemFailures": [{"itemIdentifier": "message-0"}]}


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


class Queue:
    """Remembers what is postponed, and may refuse to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.postponed: list[tuple[str, int]] = []
        self._error = error

    def postpone(self, handle: str, seconds: int) -> None:
        self.postponed.append((handle, seconds))
        if self._error:
            raise self._error


def deliver(error: Exception | None, queue: Queue | None) -> Any:
    """One message whose work ends with this error."""

    def work(_: dict[str, Any]) -> None:
        if error:
            raise error

    return sqs_handler(work, postpone=queue.postpone if queue else None)(sqs_event({}), Context())


@pytest.mark.parametrize("busy", [ImportBusyError(retry_after_s=42), BusyError(retry_after_s=42)])
def test_a_busy_message_fails_and_comes_back_when_it_is_worth_it(busy: Exception, written: io.StringIO) -> None:
    queue = Queue()
    assert deliver(busy, queue) == FAILED
    assert queue.postponed == [("handle", 42)]
    assert levels(written) == [("WARNING", "failed")]


def test_a_queue_that_does_not_postpone_or_cannot_changes_nothing_else(written: io.StringIO) -> None:
    assert deliver(ImportBusyError(retry_after_s=42), None) == FAILED
    assert levels(written) == [("WARNING", "failed")]
    assert deliver(ImportBusyError(retry_after_s=42), Queue(RuntimeError("no"))) == FAILED
    assert levels(written)[1:] == [("WARNING", "failed"), ("WARNING", "message not postponed")]


@pytest.mark.parametrize("error", [ChunkBusyError(), RuntimeError("no"), None])
def test_other_failures_are_errors_and_they_and_what_succeeds_are_not_postponed(
    error: Exception | None, written: io.StringIO
) -> None:
    queue = Queue()
    assert deliver(error, queue) == (FAILED if error else {"batchItemFailures": []})
    assert queue.postponed == []
    assert levels(written) == ([("ERROR", "failed")] if error else [])
