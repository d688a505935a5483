"""Requests that skip the moto server's sockets are answered as it answers those that do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from tests.support.aws.moto_in_process import Body, direct_requests

# Of each answer its own.
OWN = {"date", "server", "connection", "x-amz-request-id", "x-amzn-requestid", "x-amz-id-2", "content-length"}
KEY = "imports/tenant/Smith v. Müller/a+b %41/ß.dat"
VARYING = {"MessageId", "VersionId", "LastModified", "CopyObjectResult", "Contents"}
Way = tuple[Any, Any]
Call = Callable[[Any, Any, dict[str, str]], Any]

CALLS: dict[str, Call] = {
    "put": lambda s3, _, at: s3.put_object(Bucket=at["BUCKET"], Key=KEY, Body=b"\x00\xff\r\n", Metadata={"mark": "x"}),
    "get": lambda s3, _, at: s3.get_object(Bucket=at["BUCKET"], Key=KEY),
    "get a part": lambda s3, _, at: s3.get_object(Bucket=at["BUCKET"], Key=KEY, Range="bytes=1-2"),
    "get a part that is not there": lambda s3, _, at: s3.get_object(Bucket=at["BUCKET"], Key=KEY, Range="bytes=9-"),
    "head": lambda s3, _, at: s3.head_object(Bucket=at["BUCKET"], Key=KEY),
    "head of nothing": lambda s3, _, at: s3.head_object(Bucket=at["BUCKET"], Key="none"),
    "list": lambda s3, _, at: s3.list_objects_v2(Bucket=at["BUCKET"], Prefix=KEY[:20], Delimiter="/"),
    "copy": lambda s3, _, at: s3.copy_object(
        Bucket=at["BUCKET"], Key="copy", CopySource={"Bucket": at["BUCKET"], "Key": KEY}, MetadataDirective="COPY"
    ),
    "no bucket": lambda s3, _, at: s3.get_object(Bucket="bucket-that-is-missing", Key=KEY),
    "send": lambda _, sqs, at: sqs.send_message(QueueUrl=at["IMPORT_CHUNKS_QUEUE_URL"], MessageBody="þ®"),
    "no queue": lambda _, sqs, at: sqs.send_message(QueueUrl=at["BUCKET"], MessageBody="x"),
}


def answer(call: Call, way: Way, environment: dict[str, str]) -> Any:
    """What the clients make of the answer, a refusal too; without what no two answers share."""
    try:
        said = call(*way, environment)
    except ClientError as refused:
        said = refused.response
    facts = said.pop("ResponseMetadata")
    code = said.pop("Error", {}).get("Code")
    content = {name: value.read() if name == "Body" else value for name, value in said.items()}
    compared = {name: value for name, value in content.items() if name not in VARYING}
    return facts["HTTPStatusCode"], set(facts["HTTPHeaders"]) - OWN, set(said), compared, code


@pytest.fixture
def ways(environment: dict[str, str], aws_url: str) -> list[Way]:
    """Clients of S3 and SQS that call the application, and such that connect: the host has another name."""
    places = [aws_url, aws_url.replace("127.0.0.1", "localhost")]
    return [(boto3.client("s3", endpoint_url=each), boto3.client("sqs", endpoint_url=each)) for each in places]


def test_a_call_is_answered_as_a_connection(ways: list[Way], environment: dict[str, str]) -> None:
    for name, call in CALLS.items():
        direct, connected = (answer(call, way, environment) for way in ways)
        assert direct == connected, name


def test_only_requests_to_the_address_of_the_server_skip_it(ways: list[Way], environment: dict[str, str]) -> None:
    """The comparison above is of two ways."""
    at = {"Bucket": environment["BUCKET"], "Key": "skipped"}
    ways[0][0].put_object(**at, Body=b"content")
    streams = [s3.get_object(**at)["Body"]._raw_stream for s3, _ in ways]
    assert [isinstance(stream, Body) for stream in streams] == [True, False]
    assert [stream.read() for stream in streams] == [b"content"] * 2


def test_a_session_from_before_makes_no_difference() -> None:
    """Sessions keep the handlers that there were when they were made; the tests of a worker come in any order."""

    def answer_all(_environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "application/xml")])
        return [b"<ListAllMyBucketsResult/>"]

    boto3.client("s3", endpoint_url="http://127.0.0.1:9")
    before = boto3.DEFAULT_SESSION
    assert before is not None
    # Nothing listens on the discard port.
    with direct_requests(answer_all, "http://127.0.0.1:9"):
        assert boto3.client("s3", endpoint_url="http://127.0.0.1:9").list_buckets()
    assert boto3.DEFAULT_SESSION is not before
