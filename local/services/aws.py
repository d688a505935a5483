"""Local S3, SQS and SNS with the resources of the template.

Guarantees that every client created here connects to the local server only, whatever profile, proxy or endpoint the
environment names. All durations go through the time scale (see `local.time_scale`). Stored data is lost when the server
stops.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3
import botocore.session
from botocore.config import Config

from local.errors import ProcessFailedError
from local.services.processes import Processes, build_child_environment, kill, tail
from local.template.model import Bucket, Notification, Queue, Subscription
from local.template.reader import REGION, Template
from local.time_scale import TimeScale

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

_START_SECONDS = 60.0
_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}


class LocalAws:
    """The local server and its clients; `endpoint` is set once the server has started."""

    def __init__(self, processes: Processes, log: Path, time_scale: TimeScale) -> None:
        self._processes = processes
        self._log = log
        self._time_scale = time_scale
        self._server: subprocess.Popen[bytes] | None = None
        self.endpoint = ""

    def launch(self) -> None:
        """Start the server without waiting for it."""
        root = Path(__file__).resolve().parents[2]
        command = [sys.executable, "-m", "local.services.moto_server", "--time-factor", repr(self._time_scale.factor)]
        environment = build_child_environment() | {"PYTHONPATH": str(root)}
        self._server = self._processes.start(command, environment=environment, log=self._log, pipes=True)

    def await_start(self) -> None:
        """Wait until the server is ready. Raises ProcessFailedError with the end of its log when it fails to start."""
        assert self._server is not None  # noqa: S101 - launch comes first
        assert self._server.stdout is not None  # noqa: S101 - launch requests pipes
        ready, _, _ = select.select([self._server.stdout], [], [], _START_SECONDS)
        self.endpoint = self._server.stdout.readline().decode().strip() if ready else ""
        if not self.endpoint:
            raise ProcessFailedError(
                f"the local S3, SQS and SNS server did not start; {self._log} ends with:\n{tail(self._log)}"
            )

    def stop(self) -> None:
        """Stop the server; requests in progress fail at once."""
        if self._server:
            kill(self._server)

    def environment(self) -> dict[str, str]:
        """Return variables that direct any AWS SDK to this server."""
        return _CREDENTIALS | {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "NO_PROXY": "127.0.0.1,localhost",
        }

    @cached_property
    def s3(self) -> S3Client:
        """Return a client for the local S3."""
        return self._session.client("s3", **self._client_options)

    @cached_property
    def sqs(self) -> SQSClient:
        """Return a client for the local SQS."""
        return self._session.client("sqs", **self._client_options)

    @cached_property
    def sns(self) -> SNSClient:
        """Return a client for the local SNS."""
        return self._session.client("sns", **self._client_options)

    def lambda_client(self, endpoint: str) -> LambdaClient:
        """Return a client for the local Lambda API at `endpoint`."""
        return self._session.client("lambda", **self._client_options | {"endpoint_url": endpoint})

    @cached_property
    def _session(self) -> boto3.Session:
        no_files: Mapping[str, Any] = {
            "profile": (None, None, None, None),
            "config_file": (None, None, os.devnull, None),
            "credentials_file": (None, None, os.devnull, None),
        }
        return boto3.Session(
            botocore_session=botocore.session.Session(session_vars=dict(no_files)),
            aws_access_key_id="test",
            aws_secret_access_key="test",  # noqa: S106 - moto accepts any value
            region_name=REGION,
        )

    @cached_property
    def _client_options(self) -> dict[str, Any]:
        config = Config(proxies={}, max_pool_connections=50, retries={"total_max_attempts": 1}, read_timeout=60)
        return {"endpoint_url": self.endpoint, "config": config}

    def create_resources(self, template: Template) -> None:
        """Create the queues, topics, subscriptions and buckets of the template."""
        timeouts = {source.queue: template.functions[source.function].timeout for source in template.event_sources}
        for queue in template.queues.values():
            self._create_queue(queue, timeouts.get(queue.logical_id, 0.0))
        for queue in template.queues.values():
            self._set_redrive_policy(template, queue)
        for topic in template.topics.values():
            self.sns.create_topic(Name=topic.name)
        for subscription in template.subscriptions:
            self._subscribe(template, subscription)
        for bucket in template.buckets.values():
            self._create_bucket(template, bucket)

    def _create_queue(self, queue: Queue, consumer_timeout: float) -> None:
        visibility = self._time_scale.scale_visibility(queue.visibility, consumer_timeout)
        attributes = {"VisibilityTimeout": str(visibility), "DelaySeconds": str(int(queue.delay))}
        self.sqs.create_queue(QueueName=queue.name, Attributes=attributes)  # type: ignore[arg-type]

    def _set_redrive_policy(self, template: Template, queue: Queue) -> None:
        if not queue.redrive:
            return
        policy = {
            "deadLetterTargetArn": template.queue_arn(queue.redrive.dead_letter_queue),
            "maxReceiveCount": queue.redrive.max_receive_count,
        }
        self.sqs.set_queue_attributes(
            QueueUrl=template.queue_url(queue.logical_id, self.endpoint),
            Attributes={"RedrivePolicy": json.dumps(policy)},
        )

    def _subscribe(self, template: Template, subscription: Subscription) -> None:
        attributes = {"RawMessageDelivery": "true" if subscription.raw else "false"}
        if subscription.filter_policy is not None:
            attributes["FilterPolicy"] = json.dumps(subscription.filter_policy)
        if subscription.filter_scope is not None:
            attributes["FilterPolicyScope"] = subscription.filter_scope
        self.sns.subscribe(
            TopicArn=template.topic_arn(subscription.topic),
            Protocol="sqs",
            Endpoint=template.queue_arn(subscription.queue),
            Attributes=attributes,
        )

    def _create_bucket(self, template: Template, bucket: Bucket) -> None:
        self.s3.create_bucket(Bucket=bucket.name)
        if bucket.versioned:
            self.s3.put_bucket_versioning(Bucket=bucket.name, VersioningConfiguration={"Status": "Enabled"})
        configurations = [_build_queue_configuration(template, each) for each in bucket.notifications]
        if configurations:
            self.s3.put_bucket_notification_configuration(
                Bucket=bucket.name, NotificationConfiguration={"QueueConfigurations": configurations}
            )


def _build_queue_configuration(template: Template, notification: Notification) -> Any:
    rules = [("prefix", notification.prefix), ("suffix", notification.suffix)]
    return {
        "QueueArn": template.queue_arn(notification.queue),
        "Events": [notification.event],
        "Filter": {"Key": {"FilterRules": [{"Name": name, "Value": value} for name, value in rules if value]}},
    }
