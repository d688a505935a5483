"""A queue as the template has them, whose messages are delivered as often as it says, without time between them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from shell import lambda_handlers
from shell.aws import clients
from shell.lambda_handlers import LONGEST_WAIT_S, MAX_DELIVERIES
from tests.support.application.driver import Context, taken_from

# The deliveries of two hours in which a service is away.
TWO_HOURS = 2 * 3_600 // LONGEST_WAIT_S + 1


@dataclass(frozen=True)
class RedeliveringQueue:
    """A queue and its dead-letter queue."""

    url: str
    dead: str

    @classmethod
    def create(cls, monkeypatch: pytest.MonkeyPatch) -> RedeliveringQueue:
        """Make both, and have handlers send copies without a delay."""
        sqs, name = clients.sqs(), f"test-{secrets.token_hex(6)}"
        dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": MAX_DELIVERIES})
        attributes: Any = {"RedrivePolicy": policy, "VisibilityTimeout": "0"}
        url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        monkeypatch.setattr(lambda_handlers, "LONGEST_WAIT_S", 0)
        return cls(url, dead)

    def deliver(self, handler: Callable[..., Any]) -> bool:
        """Deliver a message as Lambda does; False if there is none."""
        sqs = clients.sqs()
        received: Any = sqs.receive_message(QueueUrl=self.url, MessageSystemAttributeNames=["All"]).get("Messages", [])
        for message in received:
            record = {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
                "eventSource": "aws:sqs",
            }
            if not handler({"Records": [record]}, Context())["batchItemFailures"]:
                sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
        return bool(received)

    def dead_letters(self) -> list[dict[str, Any]]:
        """Take the messages that were given up."""
        return taken_from(self.dead)
