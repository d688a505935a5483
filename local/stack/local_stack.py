"""The whole application on this machine: database, Redis, S3, SQS, SNS, functions, event sources and the API.

Guaranteed: no process of it is left after the block ends, whether by success, exception or Ctrl-C, and on Linux not
even if this process is killed. Only a database server that was running before, or that `keep_database` keeps, stays.
"""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, make_url

from local.errors import LocalError
from local.event_sources.poller import EventSourceMappings
from local.gateway.server import ApiGateway, check_port_is_free
from local.gateway.tokens import Tokens
from local.lambda_runtime.build_artifact import Artifact
from local.lambda_runtime.invocation import InvocationFailedError
from local.lambda_runtime.worker_pool import Runtime
from local.services.aws import LocalAws
from local.services.mysql import PrivateServer
from local.services.processes import Processes
from local.services.redis import PrivateRedis
from local.services.state_lock import lock_state_directory
from local.stack.function_host import FunctionHost
from local.stack.options import StackOptions
from local.template.reader import Template

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

SCHEMA = "exhibits"


class LocalStack:
    """The application, running while the `with` block runs; its data, logs and secrets are in `state_dir`."""

    def __init__(self, state_dir: Path, options: StackOptions | None = None) -> None:
        self.state_dir = state_dir.resolve()
        self.log_directory = self.state_dir / "logs"
        self.options = options or StackOptions()
        self._artifact = Artifact.load(self.options.artifact) if self.options.artifact else None
        self.template = Template.load(self._artifact.template if self._artifact else self.options.template)
        self._api: ApiGateway | None = None
        self._exit = ExitStack()
        self._failed_start = ExitStack()
        self._work = ExitStack()
        self.database_url = ""
        self.redis_url = ""
        self.aws: LocalAws
        self._functions: FunctionHost
        self.runtime: Runtime
        self.event_sources: EventSourceMappings

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._exit.close()
            self._failed_start.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()

    @property
    def s3(self) -> S3Client:
        """Return a client for the local S3."""
        return self.aws.s3

    @property
    def sqs(self) -> SQSClient:
        """Return a client for the local SQS."""
        return self.aws.sqs

    @property
    def sns(self) -> SNSClient:
        """Return a client for the local SNS."""
        return self.aws.sns

    @property
    def lambda_client(self) -> LambdaClient:
        """Return a client for the local Lambda API; raise LocalError if the template has no durable functions."""
        return self.aws.lambda_client(self._functions.lambda_url)

    @property
    def bucket(self) -> str:
        """Return the name of the template's bucket; raise LocalError unless it has exactly one."""
        if len(self.template.buckets) != 1:
            raise LocalError(f"the template has {len(self.template.buckets)} buckets, not one")
        return next(iter(self.template.buckets.values())).name

    @property
    def api_url(self) -> str:
        """Return the API's base URL, without a trailing slash; raise LocalError if the template has no routes."""
        if self._api is None:
            raise LocalError("the template has no routes of an HTTP API")
        return self._api.url

    @property
    def tokens(self) -> Tokens:
        """Return the issuer of the tokens that the API accepts."""
        return Tokens.load(self.state_dir, self.template)

    def queue_url(self, queue: str) -> str:
        """Return the URL of a queue by its logical id."""
        return self.template.queue_url(queue, self.aws.endpoint)

    def invoke(self, function: str, payload: object) -> Any:
        """Invoke a function by its logical id and return its result; raise InvocationFailedError if it fails."""
        return self.runtime.invoke(function, payload)

    def environment(self, function: str) -> dict[str, str]:
        """Return the variables of a function, by its logical id, without those of its runtime."""
        return self._functions.environment(function)

    def get_execution_statuses(self, function: str) -> dict[str, str]:
        """Return the status (RUNNING, SUCCEEDED, FAILED ...) of each execution of a durable function by its name."""
        return self._functions.get_execution_statuses(function)

    def wait_until_idle(self, timeout: float = 60.0) -> None:
        """Wait until no message waits, no work is in progress and every execution has ended; raise TimeoutError."""
        self._functions.wait_until_idle(timeout)

    def is_idle(self) -> bool:
        """Return whether no message waits, no work is in progress and every execution has ended."""
        return self.event_sources.is_idle()

    def wait_for_activity(self, seconds: float) -> None:
        """Wait until an invocation ends or the time is over."""
        self.event_sources.activity.wait(seconds)

    def stop_work(self) -> None:
        """Stop the API and the functions before the block ends; afterwards they change nothing in the database."""
        self._work.close()

    def failures(self, after: int = 0) -> list[InvocationFailedError]:
        """Return the failed invocations and executions so far, without the first `after`."""
        return self.event_sources.activity.failures(after)

    def _start(self) -> None:
        self._exit.enter_context(lock_state_directory(self.state_dir))
        if self.template.routes:
            check_port_is_free(self.options.api_port)
        shutil.rmtree(self.log_directory, ignore_errors=True)
        self.log_directory.mkdir(parents=True)
        processes = Processes()
        self._exit.callback(processes.stop)
        self.aws = LocalAws(processes, self.log_directory / "aws.log", self.options.time_scale)
        # AWS, Redis and the database start in parallel.
        self.aws.launch()
        with ThreadPoolExecutor(1) as executor:
            redis = executor.submit(self._start_redis)
            self.database_url = self._start_database()
            self.aws.await_start()
        self.redis_url = redis.result()
        self.aws.create_resources(self.template)
        self._exit.enter_context(self._work)
        self._start_functions(processes)
        for function in self.template.on_deploy:
            self.invoke(function, {"RequestType": "Local"})
        if self.options.poll_events:
            self.event_sources.start()
        if self.template.routes:
            invoke = self._functions.invoke_for_api
            self._api = ApiGateway(self.template.routes, invoke, self.tokens, self.options.api_port)
            self._work.enter_context(self._api)

    def _start_redis(self) -> str:
        """Start Redis if a function of the template uses it; return its URL, or an empty string."""
        if not any("REDIS_URL" in function.environment for function in self.template.functions.values()):
            return ""
        redis = PrivateRedis(self.log_directory)
        self._exit.callback(redis.stop)
        return redis.start()

    def _start_database(self) -> str:
        keep = self.options.keep_database
        if self.options.database_url:
            url = make_url(self.options.database_url)
            if not url.database:
                raise LocalError("DATABASE_URL has no schema; write it as in mysql+pymysql://user@host:3306/exhibits")
        else:
            server = PrivateServer(self.state_dir / "database", outlive=keep)
            url = make_url(server.start()).set(database=SCHEMA)
            if server.was_started_here and not keep:
                self._exit.callback(server.stop)
            elif server.was_started_here:
                self._failed_start.callback(server.stop)
        create_schema(url)
        return url.render_as_string(hide_password=False)

    def _start_functions(self, processes: Processes) -> None:
        servers = {"DATABASE_URL": self.database_url} | ({"REDIS_URL": self.redis_url} if self.redis_url else {})
        self._functions = FunctionHost(
            self.template,
            self.aws,
            {**servers, **self.options.environment},
            self.options,
            processes=processes,
            log_directory=self.log_directory,
            artifact=self._artifact,
        )
        self.runtime, self.event_sources = self._functions.runtime, self._functions.event_sources
        self._work.callback(self._functions.stop)


def create_schema(url: URL) -> None:
    """Create the schema of a URL if it is missing."""
    engine = create_engine(url.set(database=""))
    try:
        with engine.begin() as connection:
            name = engine.dialect.identifier_preparer.quote_identifier(url.database or "")
            connection.execute(text(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4"))
    finally:
        engine.dispose()
