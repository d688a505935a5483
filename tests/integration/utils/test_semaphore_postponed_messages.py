"""A received message is hidden for as long as requested."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from core.errors import QueueUnavailableError
from shell.aws import clients
from shell.aws.sqs import LONGEST_VISIBILITY_S, postpone, send_messages
from shell.work.messages import WakeMessage
from tests.support.application.driver import World
from tests.support.database.counted_database import until


def receive(queue_url: str) -> list[Any]:
    return clients.sqs().receive_message(QueueUrl=queue_url).get("Messages", [])


@pytest.fixture
def queue_url(world: World) -> str:
    """An empty queue, whose messages come back after half a minute."""
    return clients.sqs().create_queue(QueueName=f"{world.bucket}-{secrets.token_hex(4)}")["QueueUrl"]


def test_a_postponed_message_comes_back_then_and_nothing_is_postponed_for_longer_than_sqs_allows(
    queue_url: str,
) -> None:
    send_messages(queue_url, [WakeMessage()])
    (message,) = receive(queue_url)
    for seconds in (LONGEST_VISIBILITY_S + 1, 5):
        postpone(queue_url, message["ReceiptHandle"], seconds)
        assert receive(queue_url) == []
    with pytest.raises(QueueUnavailableError):
        postpone(queue_url, "no such handle", 1)
    until(lambda: [again["Body"] for again in receive(queue_url)] == [message["Body"]])
