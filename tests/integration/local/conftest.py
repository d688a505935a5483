"""A toy application on a running local stack, where six minutes take a third of a second."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from local.stack import LocalStack, StackOptions
from local.time_scale import TimeScale

TOY = Path(__file__).with_name("toy") / "template.yaml"


class ToyResults:
    """What the toy functions reported on their results queue."""

    def __init__(self, stack: LocalStack) -> None:
        self._stack = stack
        self._messages: list[dict[str, Any]] = []

    def matching(self, matches: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Every report so far that matches, in order."""
        self._receive(wait=0)
        return [message for message in self._messages if matches(message)]

    def first(self, matches: Callable[[dict[str, Any]], bool], within: float = 120.0) -> dict[str, Any]:
        """The first that matches; waits for it on the queue."""
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            for message in self._messages:
                if matches(message):
                    return message
            self._receive(wait=1)
        raise AssertionError(f"no such report: {self._messages}")

    def _receive(self, wait: int) -> None:
        url = self._stack.queue_url("ResultsQueue")
        while True:
            found = self._stack.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=wait)
            for message in found.get("Messages", []):
                self._messages.append(json.loads(message["Body"]))
                self._stack.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
            if wait or not found.get("Messages"):
                return


@pytest.fixture(scope="session")
def toy_template() -> Path:
    return TOY


@pytest.fixture(scope="session")
def toy_time() -> TimeScale:
    """A thousand seconds take one; a function may run for 40, because a busy machine takes long to start one.

    More than 43 would not do: the visibility of messages would be longer than SQS allows, and is cut off there.
    """
    return TimeScale(0.001, shortest_timeout=40)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, toy_time: TimeScale) -> Iterator[LocalStack]:
    options = StackOptions(workers=3, time_scale=toy_time, template=TOY)
    with LocalStack(tmp_path_factory.mktemp("state"), options) as running:
        yield running


@pytest.fixture(scope="session")
def toy_results(stack: LocalStack) -> ToyResults:
    return ToyResults(stack)


@pytest.fixture(scope="session")
def listen() -> Callable[[LocalStack], ToyResults]:
    return ToyResults


@pytest.fixture
def send(stack: LocalStack) -> Callable[..., None]:
    """Sends bodies to the work queue as one batch."""

    def send(*bodies: dict[str, Any], **attributes: Any) -> None:
        entries: Any = [
            {"Id": str(number), "MessageBody": json.dumps(body), "MessageAttributes": attributes}
            for number, body in enumerate(bodies)
        ]
        stack.sqs.send_message_batch(QueueUrl=stack.queue_url("WorkQueue"), Entries=entries)

    return send
