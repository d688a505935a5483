"""An outage of S3 for two hours, delivery by delivery: no chunk is given up."""

from __future__ import annotations

import json
import secrets
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError

import import_chunk
from shell import lambda_handlers
from shell.aws import clients
from shell.lambda_handlers import LONGEST_WAIT_S, MAX_DELIVERIES
from shell.settings import settings
from tests.integration.imports.conftest import Setting
from tests.integration.imports.support import THREE
from tests.support.world import Context, World, complete_imports, taken_from

OUTAGE_S = 2 * 3_600


class NoStorage:
    """S3 that cannot be reached."""

    def get_object(self, **_: object) -> None:
        raise EndpointConnectionError(endpoint_url="https://s3")


@pytest.fixture
def dead_letters(world: World, setting: Setting, monkeypatch: pytest.MonkeyPatch) -> str:
    """A queue for the chunks that were tried as often as the template says; no time passes between the tries."""
    sqs, name = clients.sqs(), f"{world.bucket}-{secrets.token_hex(4)}"
    dead = sqs.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": MAX_DELIVERIES})
    attributes: Any = {"RedrivePolicy": policy, "VisibilityTimeout": "0"}
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    setting("IMPORT_CHUNKS_QUEUE_URL", url)
    monkeypatch.setattr(lambda_handlers, "LONGEST_WAIT_S", 0)
    return dead


def deliver() -> bool:
    """Deliver a chunk as Lambda does; False if there is none."""
    sqs, url = clients.sqs(), settings().import_chunks_queue_url
    received: Any = sqs.receive_message(QueueUrl=url, MessageSystemAttributeNames=["All"]).get("Messages", [])
    for message in received:
        record = {
            "messageId": message["MessageId"],
            "receiptHandle": message["ReceiptHandle"],
            "body": message["Body"],
            "attributes": message["Attributes"],
            "eventSource": "aws:sqs",
        }
        if not import_chunk.lambda_handler({"Records": [record]}, Context())["batchItemFailures"]:
            sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
    return bool(received)


def test_a_chunk_outlasts_two_hours_without_s3(
    world: World, dead_letters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_id = world.start(THREE)
    with monkeypatch.context() as outage:
        outage.setattr("shell.aws.s3.s3", NoStorage)
        assert all(deliver() for _ in range(OUTAGE_S // LONGEST_WAIT_S + 1))
    assert deliver()
    assert not deliver()
    complete_imports()
    assert taken_from(dead_letters) == []
    found = world.query("SELECT status, imported, rejected FROM imports WHERE id = :i", i=import_id)
    assert found == [("completed", 3, 0)]


def test_a_chunk_is_given_up_where_outages_are_not_recognised(
    world: World, dead_letters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.start(THREE)
    monkeypatch.setattr(lambda_handlers, "is_outage", lambda _: False)
    monkeypatch.setattr("shell.aws.s3.s3", NoStorage)
    assert [deliver() for _ in range(MAX_DELIVERIES + 1)] == [True] * MAX_DELIVERIES + [False]
    assert len(taken_from(dead_letters)) == 1
