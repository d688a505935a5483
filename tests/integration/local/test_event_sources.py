"""Messages reach functions as Lambda would bring them."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from local.stack import LocalStack, StackOptions
from tests.support.aws.repeated_deliveries import RepeatedDelivery

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.integration.local.conftest import ToyResults

Send = Callable[..., None]


@pytest.fixture
def mark() -> str:
    """Tells the messages of one test from those of others."""
    return str(uuid.uuid4())


def of(mark: str) -> Callable[[dict[str, Any]], bool]:
    return lambda message: message.get("body", {}).get("mark") == mark


def test_a_function_gets_the_event_that_lambda_makes_of_a_message(
    stack: LocalStack, send: Send, toy_results: ToyResults, mark: str
) -> None:
    send({"mark": mark}, kind={"DataType": "String", "StringValue": "plain"})
    record = toy_results.first(of(mark))["record"]
    assert json.loads(record["body"]) == {"mark": mark}
    assert (record["eventSource"], record["awsRegion"]) == ("aws:sqs", "us-east-1")
    assert record["eventSourceARN"] == stack.template.queue_arn("WorkQueue")
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert record["messageAttributes"]["kind"]["stringValue"] == "plain"
    assert {"messageId", "receiptHandle", "md5OfBody"} <= record.keys()


def test_only_the_failed_message_of_a_batch_is_delivered_again(
    stack: LocalStack, send: Send, toy_results: ToyResults, mark: str
) -> None:
    send({"mark": mark, "n": 1}, {"mark": mark, "n": 2, "fail_times": 1}, {"mark": mark, "n": 3})
    stack.wait_until_idle()
    assert Counter(each["body"]["n"] for each in toy_results.matching(of(mark))) == {1: 1, 2: 2, 3: 1}


@pytest.mark.parametrize(
    ("fault", "error_type"), [("raise_times", "ValueError"), ("die_times", "Runtime.ExitError")], ids=["raises", "dies"]
)
def test_a_function_that_fails_leaves_its_whole_batch(
    stack: LocalStack, send: Send, toy_results: ToyResults, mark: str, fault: str, error_type: str
) -> None:
    before = len(stack.failures())
    send({"mark": mark, fault: 1})
    stack.wait_until_idle()
    first, second = toy_results.matching(of(mark))
    assert (first["pid"] == second["pid"]) is (fault == "raise_times"), "only a worker that died is replaced"
    assert [failure.error_type for failure in stack.failures(before)] == [error_type]


@pytest.mark.parametrize("fault", [{"fail_times": 9}, {"malformed": True}])
def test_a_message_that_always_fails_ends_in_the_dead_letter_queue(
    stack: LocalStack, send: Send, toy_results: ToyResults, mark: str, fault: dict[str, Any]
) -> None:
    send({"mark": mark} | fault)
    stack.wait_until_idle()
    url = stack.queue_url("WorkDeadLetterQueue")
    (dead,) = stack.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    stack.sqs.delete_message(QueueUrl=url, ReceiptHandle=dead["ReceiptHandle"])

    assert json.loads(dead["Body"])["mark"] == mark
    assert len(toy_results.matching(of(mark))) == 3


def test_no_more_invocations_run_at_once_than_the_source_allows(
    stack: LocalStack, send: Send, toy_results: ToyResults, mark: str
) -> None:
    for n in range(12):
        send({"mark": mark, "n": n})
    stack.wait_until_idle()
    assert len(toy_results.matching(of(mark))) == 12
    assert len(stack.runtime.pids("WorkFunction")) <= 2


def test_an_upload_under_the_prefix_is_announced_with_its_version(
    stack: LocalStack, toy_results: ToyResults, mark: str
) -> None:
    stack.s3.put_object(Bucket=stack.bucket, Key=f"elsewhere/{mark}", Body=b"x")
    version = stack.s3.put_object(Bucket=stack.bucket, Key=f"in/{mark} é", Body=b"x")["VersionId"]

    toy_results.first(lambda message: mark in json.dumps(message))
    (message,) = toy_results.matching(lambda message: mark in json.dumps(message))
    (record,) = json.loads(message["event"]["Records"][0]["body"])["Records"]
    assert record["s3"]["object"]["key"] == f"in%2F{mark}+%C3%A9"
    assert record["s3"]["object"]["versionId"] == version


def test_a_schedule_invokes_its_function(toy_results: ToyResults) -> None:
    event = toy_results.first(lambda message: message.get("event", {}).get("source") == "aws.events")["event"]
    assert event["detail-type"] == "Scheduled Event"


def test_a_subscription_filters_and_delivers_raw(stack: LocalStack) -> None:
    for kind in ("bad", "good"):
        stack.sns.publish(
            TopicArn=stack.template.topic_arn("NewsTopic"),
            Message=f"{kind} news",
            MessageAttributes={"eventType": {"DataType": "String", "StringValue": kind}},
        )
    url = stack.queue_url("ListenerQueue")
    messages = stack.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]
    assert [message["Body"] for message in messages] == ["good news"]


def test_messages_can_be_delivered_several_times_in_disorder(
    tmp_path: Path, stack: LocalStack, listen: Callable[[LocalStack], ToyResults]
) -> None:
    options = StackOptions(
        time_scale=stack.options.time_scale,
        template=stack.template.path,
        database_url=stack.database_url,
        delivery=RepeatedDelivery(copies=3, window=20),
    )
    with LocalStack(tmp_path, options) as other:
        url = other.queue_url("WorkQueue")
        for n in range(4):
            other.sqs.send_message(QueueUrl=url, MessageBody=json.dumps({"n": n}))
        other.wait_until_idle()
        toy_results = listen(other).matching(lambda message: "body" in message)
    assert Counter(each["body"]["n"] for each in toy_results) == dict.fromkeys(range(4), 3)
