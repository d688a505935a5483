"""A message that the local SQS has taken, and no function has deleted, is delivered after the server was killed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_plus

import pytest

from tests.support.aws.killed_server import KilledServer

pytestmark = pytest.mark.slow
QUEUE, DEAD = "ImportChunksQueue", "ImportChunksDeadLetterQueue"


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KilledServer]:
    running = KilledServer(tmp_path_factory.mktemp("server"))
    yield running
    running.close()


def receive(server: KilledServer, queue: str = QUEUE) -> list[Any]:
    found = server.aws.sqs.receive_message(
        QueueUrl=server.queue_url(queue), MaxNumberOfMessages=10, MessageAttributeNames=["All"]
    )
    return list(found.get("Messages", []))


def delete(server: KilledServer, message: Any) -> None:
    server.aws.sqs.delete_message(QueueUrl=server.queue_url(QUEUE), ReceiptHandle=message["ReceiptHandle"])


def test_a_message_is_delivered_until_it_is_deleted(server: KilledServer) -> None:
    attribute: Any = {"kind": {"DataType": "String", "StringValue": "chunk"}}
    entries: Any = [{"Id": str(n), "MessageBody": f"body {n}", "MessageAttributes": attribute} for n in range(3)]
    server.aws.sqs.send_message_batch(QueueUrl=server.queue_url(QUEUE), Entries=entries)
    first = receive(server)[0]
    delete(server, first)
    server.restart()
    # The two others had been received, too: who had received them is gone.
    after = receive(server)
    assert [each["Body"] for each in after] == ["body 1", "body 2"]
    assert after[0]["MessageAttributes"]["kind"]["StringValue"] == "chunk"
    for each in after:
        delete(server, each)
    server.restart()
    assert receive(server) == []


def test_a_purged_queue_stays_empty(server: KilledServer) -> None:
    server.aws.sqs.send_message(QueueUrl=server.queue_url(QUEUE), MessageBody="purged")
    server.aws.sqs.send_message(QueueUrl=server.queue_url(DEAD), MessageBody="kept")
    server.aws.sqs.purge_queue(QueueUrl=server.queue_url(QUEUE))
    server.restart()
    assert (receive(server), [each["Body"] for each in receive(server, DEAD)]) == ([], ["kept"])


def test_a_delayed_message_is_delayed_again(server: KilledServer) -> None:
    server.aws.sqs.send_message(QueueUrl=server.queue_url(QUEUE), MessageBody="later", DelaySeconds=600)
    server.restart()
    counts = server.aws.sqs.get_queue_attributes(QueueUrl=server.queue_url(QUEUE), AttributeNames=["All"])["Attributes"]
    assert (receive(server), counts["ApproximateNumberOfMessagesDelayed"]) == ([], "1")


def test_an_object_and_the_message_that_announces_it_are_there_together(server: KilledServer) -> None:
    put = server.aws.s3.put_object(Bucket=server.bucket, Key="imports/tenant/case/id/file.dat", Body=b"x")
    server.restart()
    (message,) = receive(server, "ImportRequestsQueue")
    announced = json.loads(message["Body"])["Records"][0]["s3"]["object"]
    assert (unquote_plus(announced["key"]), announced["versionId"]) == (
        "imports/tenant/case/id/file.dat",
        put["VersionId"],
    )


def test_a_dead_letter_stays_in_its_queue(server: KilledServer) -> None:
    url = server.queue_url(QUEUE)
    server.aws.sqs.send_message(QueueUrl=url, MessageBody="poison")
    attributes = server.aws.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["RedrivePolicy"])["Attributes"]
    for _ in range(json.loads(attributes["RedrivePolicy"])["maxReceiveCount"]):
        (message,) = receive(server)
        server.aws.sqs.change_message_visibility(
            QueueUrl=url, ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
        )
    assert receive(server) == []
    server.restart()
    assert (receive(server), [each["Body"] for each in receive(server, DEAD)]) == ([], ["poison"])
