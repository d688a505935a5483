"""Local S3, SQS and SNS with the resources of the template.

Guarantees that every client created here connects to the local server only, whatever profile, proxy or endpoint the
environment names. All durations go through the time scale (see `local.time_scale`). Objects and messages are in a
folder (see `local.storage`), from which the next server goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.errors import ProcessFailedError
from local.services.presigned_requests import SECRET
from local.services.processes import Processes, build_child_environment, kill, tail
from local.template.account import REGION

# botocore is imported at the first client: a command starts the servers before it spends time on that.
if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

    from local.services.queues import Queues
    from local.template.reader import Template
    from local.time_scale import TimeScale

_START_SECONDS = 60.0
_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": SECRET}


class AwsClients:
    """Clients of the local server at `endpoint`."""

    def __init__(self, endpoint: str = "") -> None:
        self.endpoint = endpoint

    @cached_property
    def s3(self) -> S3Client:
        """Return a client for the local S3."""
        client: S3Client = self._session.create_client("s3", **self._client_options)
        return client

    @cached_property
    def sqs(self) -> SQSClient:
        """Return a client for the local SQS."""
        client: SQSClient = self._session.create_client("sqs", **self._client_options)
        return client

    @cached_property
    def queues(self) -> Queues:
        """Return the queues of the local SQS, without the weight of a client."""
        from local.services.queues import Queues

        return Queues(self.endpoint)

    @cached_property
    def sns(self) -> SNSClient:
        """Return a client for the local SNS."""
        client: SNSClient = self._session.create_client("sns", **self._client_options)
        return client

    def lambda_client(self, endpoint: str) -> LambdaClient:
        """Return a client for the local Lambda API at `endpoint`."""
        options = self._client_options | {"endpoint_url": endpoint}
        client: LambdaClient = self._session.create_client("lambda", **options)
        return client

    @cached_property
    def _session(self) -> Any:
        # Not boto3, which imports what transfers files: an eighth of a second, and not needed here.
        import botocore.session

        no_files: Mapping[str, Any] = {
            "profile": (None, None, None, None),
            "config_file": (None, None, os.devnull, None),
            "credentials_file": (None, None, os.devnull, None),
        }
        return botocore.session.Session(session_vars=dict(no_files))

    @cached_property
    def _client_options(self) -> dict[str, Any]:
        from botocore.config import Config

        config = Config(proxies={}, max_pool_connections=50, retries={"total_max_attempts": 1}, read_timeout=60)
        key = {"aws_access_key_id": "test", "aws_secret_access_key": SECRET, "region_name": REGION}
        return {**key, "endpoint_url": self.endpoint, "config": config}


class LocalAws(AwsClients):
    """The local server and its clients; `endpoint` is set once the server has started.

    To start it, call `launch`, `create_resources` and `await_start`, in this order.
    """

    def __init__(self, processes: Processes, log: Path, time_scale: TimeScale, storage: Path) -> None:
        super().__init__()
        self.storage = storage
        self._processes = processes
        self._log = log
        self._time_scale = time_scale
        self._server: subprocess.Popen[bytes] | None = None

    def launch(self) -> None:
        """Start the server without waiting for it."""
        root = Path(__file__).resolve().parents[2]
        options = ["--time-factor", repr(self._time_scale.factor), "--storage", str(self.storage)]
        command = [sys.executable, "-m", "local.services.moto_server", *options]
        environment = build_child_environment() | {"PYTHONPATH": str(root)}
        self._server = self._processes.start(command, environment=environment, log=self._log, pipes=True)

    def create_resources(self, template: Template) -> None:
        """Have the queues, topics, subscriptions and buckets of the template created before the server is ready."""
        from local.services.aws_resources import describe_resources

        assert self._server is not None  # noqa: S101 - launch comes first
        assert self._server.stdin is not None  # noqa: S101 - launch requests pipes
        # A server that has ended already is reported by await_start.
        with contextlib.suppress(BrokenPipeError):
            self._server.stdin.write(json.dumps(describe_resources(template, self._time_scale)).encode() + b"\n")
            self._server.stdin.flush()

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
