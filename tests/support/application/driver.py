"""The application with all around it, driven by a test: real MySQL, moto's AWS, the handlers in this process."""

from __future__ import annotations

import json
import random
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus

import boto3
from moto.sqs.models import sqs_backends
from sqlalchemy import Engine, text

import complete_import
import handle_failed_chunk
import import_chunk
import publish_outbox
import start_import
import write_import_report
from core.imports.uploads import build_options_key
from shell.aws import clients
from shell.aws.s3 import delete_prefix
from shell.db.session import engine
from shell.settings import settings
from tests.support.database.application_user import administrator_engine
from tests.support.database.dump import Dump, logical_dump

Handler = Callable[[dict[str, Any], Any], Any]
Message = dict[str, Any]
ACCOUNT = "123456789012"
RECEIVED_AT_MOST = 10
VISIBILITY_S = 30


class Context:
    """A Lambda context with a minute left."""

    function_name = "test"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:test"
    aws_request_id = "test"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds."""
        return 60_000


class MigrationContext(Context):
    """A Lambda context with the time that the migration has: a busy machine takes long for all of them."""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds."""
        return 900_000


def sqs_event(*bodies: Mapping[str, Any]) -> dict[str, Any]:
    """The event in which SQS hands over messages with these bodies."""
    return {
        "Records": [
            {
                "messageId": f"message-{index}",
                "receiptHandle": "handle",
                "body": json.dumps(body),
                "attributes": {"ApproximateReceiveCount": "1"},
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:queue",
                "awsRegion": "us-east-1",
            }
            for index, body in enumerate(bodies)
        ]
    }


def call(handler: Handler, *bodies: Mapping[str, Any]) -> bool:
    """Hand the messages to a handler; True if it reports none as failed."""
    answer = handler(sqs_event(*bodies), Context())
    return not answer["batchItemFailures"]


def taken_from(url: str) -> list[Message]:
    """Take all visible messages from a queue; without requests where moto is in this process."""
    name = url.rpartition("/")[2]
    backend = next((each for each in sqs_backends[ACCOUNT].values() if name in each.queues), None)
    if backend is None:
        return _taken_by_requests(url)
    bodies: list[str] = []
    while received := backend.receive_message(name, RECEIVED_AT_MOST, 0, VISIBILITY_S):
        bodies += [message.body for message in received]
        for message in received:
            backend.delete_message(name, str(message.receipt_handle))
    return [json.loads(body) for body in bodies]


def _taken_by_requests(url: str) -> list[Message]:
    messages: list[Message] = []
    received: list[Any] = [None] * RECEIVED_AT_MOST
    # moto hands out all that are visible, up to the limit.
    while len(received) == RECEIVED_AT_MOST:
        answer = clients.sqs().receive_message(QueueUrl=url, MaxNumberOfMessages=RECEIVED_AT_MOST)
        received = answer.get("Messages", [])
        messages += [json.loads(message["Body"]) for message in received]
        if received:
            handles = [message["ReceiptHandle"] for message in received]
            clients.sqs().delete_message_batch(
                QueueUrl=url, Entries=[{"Id": str(n), "ReceiptHandle": each} for n, each in enumerate(handles)]
            )
    return messages


def empty_queues() -> None:
    """Delete all messages of all queues, without requests."""
    for backend in sqs_backends[ACCOUNT].values():
        for name, queue in backend.queues.items():
            # moto refuses a second purge within a minute, as SQS does.
            queue.last_purged_at = None
            backend.purge_queue(name)


def empty_bucket(name: str) -> None:
    """Delete all versions of all objects, and the uploads in parts."""
    delete_prefix(name, "")
    for upload in clients.s3().list_multipart_uploads(Bucket=name).get("Uploads", []):
        clients.s3().abort_multipart_upload(Bucket=name, Key=upload["Key"], UploadId=upload["UploadId"])


def request_messages() -> list[Message]:
    """Take all messages from the queue of import requests."""
    return taken_from(settings().import_requests_queue_url)


def completion_messages() -> list[Message]:
    """Take all messages from the queue of completions."""
    return taken_from(settings().import_completions_queue_url)


def complete_imports() -> None:
    """Deliver the completions that were requested."""
    for message in completion_messages():
        assert call(complete_import.lambda_handler, message), message


@dataclass
class World:
    """One bucket and its queues; cases are new for every test."""

    bucket: str
    environment: dict[str, str] = field(default_factory=dict)

    @classmethod
    def create(cls) -> tuple[World, dict[str, str]]:
        """A new bucket, queues and topic; returns the world and the environment that names them."""
        name = f"test-{secrets.token_hex(6)}"
        s3, sqs = boto3.client("s3"), boto3.client("sqs")
        s3.create_bucket(Bucket=name)
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
        environment = {
            "BUCKET": name,
            "IMPORT_REQUESTS_QUEUE_URL": sqs.create_queue(QueueName=f"{name}-requests")["QueueUrl"],
            "IMPORT_CHUNKS_QUEUE_URL": sqs.create_queue(QueueName=f"{name}-chunks")["QueueUrl"],
            "IMPORT_COMPLETIONS_QUEUE_URL": sqs.create_queue(QueueName=f"{name}-completions")["QueueUrl"],
            "OUTBOX_WAKE_QUEUE_URL": sqs.create_queue(QueueName=f"{name}-wakes")["QueueUrl"],
            "VOLUME_WORK_QUEUE_URL": sqs.create_queue(QueueName=f"{name}-volumes")["QueueUrl"],
            "CASE_PURGES_QUEUE_URL": sqs.create_queue(QueueName=f"{name}-purges")["QueueUrl"],
            "PRODUCTION_CHECKS_QUEUE_URL": sqs.create_queue(QueueName=f"{name}-checks")["QueueUrl"],
            "EVENTS_TOPIC_ARN": boto3.client("sns").create_topic(Name=f"{name}-events")["TopicArn"],
        }
        return cls(name, environment), environment

    def upload(self, data: bytes, *, case: str = "Case", name: str = "production.dat", **options: Any) -> Message:
        """Put a load file, with options if there are any; returns the notification that S3 would send."""
        upload_id = secrets.token_hex(8)
        key = f"imports/tenant/{case}/{upload_id}/{name}"
        if options:
            clients.s3().put_object(Bucket=self.bucket, Key=build_options_key(key), Body=json.dumps(options))
        put = clients.s3().put_object(Bucket=self.bucket, Key=key, Body=data)
        stored = {"key": key, "versionId": put["VersionId"], "eTag": put["ETag"], "size": len(data), "sequencer": "1"}
        record = {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": self.bucket}, "object": stored}}
        return {"Records": [record]}

    def start(self, data: bytes, **options: Any) -> int:
        """Upload a file and start its import; returns the import's id."""
        assert call(start_import.lambda_handler, self.upload(data, **options))
        # A file without rows has no chunk.
        complete_imports()
        return int(self.query("SELECT MAX(id) FROM imports")[0][0])

    def chunk_messages(self) -> list[Message]:
        """Take all messages from the chunks' queue."""
        return taken_from(settings().import_chunks_queue_url)

    def run(self, data: bytes, *, shuffle: int | None = None, times: int = 1, **options: Any) -> int:
        """Import a file: every chunk delivered `times` times, in the order that the seed `shuffle` gives."""
        import_id = self.start(data, **options)
        messages = self.chunk_messages() * times
        if shuffle is not None:
            random.Random(shuffle).shuffle(messages)
        for message in messages:
            assert self.import_chunk(message), message
        return import_id

    def import_chunk(self, message: Message) -> bool:
        """Deliver a chunk, and the completion that it requests if it is the last one; True if it was acknowledged."""
        acknowledged = call(import_chunk.lambda_handler, message)
        complete_imports()
        return acknowledged

    def notification_of(self, key: str) -> Message:
        """What S3 says of the newest version of an object."""
        head = clients.s3().head_object(Bucket=self.bucket, Key=key)
        stored = {"key": quote_plus(key), "versionId": head["VersionId"], "eTag": head["ETag"], "sequencer": "1"}
        size = {"size": head["ContentLength"]}
        record = {"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": self.bucket}, "object": stored | size}}
        return {"Records": [record]}

    def finish(self, message: Message) -> None:
        """Deliver a request and all that follows from it, up to the reports."""
        assert call(start_import.lambda_handler, message)
        for chunk in self.chunk_messages():
            assert self.import_chunk(chunk)
        complete_imports()
        completed = "SELECT payload FROM outbox_events WHERE event_type = 'import.completed' AND published = 0"
        for (payload,) in self.query(completed):
            assert call(write_import_report.lambda_handler, json.loads(payload))

    def give_up(self, message: Message) -> None:
        """What becomes of a chunk whose message reached the dead-letter queue twice."""
        for redrive in (0, 1):
            assert call(handle_failed_chunk.lambda_handler, {**message, "redrive": redrive})
        complete_imports()

    def publish(self) -> int:
        """Publish what is in the outbox; returns how many events."""
        return int(publish_outbox.lambda_handler({}, Context())["published"])

    def report(self, import_id: int) -> dict[str, bytes]:
        """Write the import's report files and read them, by the last part of their keys."""
        assert call(write_import_report.lambda_handler, {"importId": import_id, "generation": 1})
        listed = clients.s3().list_objects_v2(Bucket=self.bucket, Prefix=f"reports/{import_id}/1/").get("Contents", [])
        return {
            each["Key"].rpartition("/")[2]: clients.s3().get_object(Bucket=self.bucket, Key=each["Key"])["Body"].read()
            for each in listed
        }

    @property
    def engine(self) -> Engine:
        """The application's engine."""
        return engine()

    def query(self, statement: str, **values: Any) -> Sequence[Any]:
        """Rows of a statement, in a transaction of its own."""
        with administrator_engine().begin() as connection:
            result = connection.execute(text(statement), values)
            return result.all() if result.returns_rows else []

    def dump(self, import_id: int) -> Dump:
        """The import's logical dump."""
        return logical_dump(engine(), import_id)
