"""The whole application on this machine: database, Redis, S3, SQS, SNS, functions, the pump between them, and the API.

Guarantees that nothing of it is left running after the block ends, whether by success, exception or Ctrl-C; on Linux
not even when this process is killed. Only a database server that was running before, or that is meant to outlive the
block, goes on.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, make_url

from local.api_gateway import ApiGateway, refuse_taken_port
from local.artifact import Artifact
from local.aws import LocalAws
from local.database import PrivateServer
from local.delivery import AsReceived, Delivery
from local.errors import LocalError
from local.functions import RunningFunctions
from local.invocation import InvocationFailed
from local.lock import exclusive
from local.processes import Processes
from local.pump import Pump
from local.redis_server import PrivateRedis
from local.runtime import Runtime
from local.template import Template
from local.time_scale import TimeScale
from local.tokens import Tokens
from local.worker import RUNTIME_CLIENT

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

REPOSITORY = Path(__file__).resolve().parent.parent
DEFAULT_TEMPLATE = REPOSITORY / "template.yaml"
SCHEMA = "exhibits"


class LocalStack:
    """Everything running for as long as the `with` block does.

    `database_url` must name a schema, which is created if it is missing; without it a private server in the state
    directory is used. `environment` wins over the template's variables. `outlive` leaves the private server running.
    `api_port` is the API's; 0 means a free one. `artifact` is a folder that `make lambda` has made: the functions then
    run from what was built, under AWS's runtime interface emulator, wired as the built template says. Unless it
    `delivers`, no queue is polled and no schedule runs: a function does what it is invoked for. `module` runs the
    handlers from source in place of AWS's runtime client, to which it hands over when it has done what it is for.
    """

    def __init__(
        self,
        state_dir: Path,
        *,
        workers: int = 2,
        time_scale: TimeScale | None = None,
        database_url: str | None = None,
        template: Path = DEFAULT_TEMPLATE,
        environment: Mapping[str, str] | None = None,
        delivery: Delivery | None = None,
        outlive: bool = False,
        api_port: int = 0,
        artifact: Path | None = None,
        delivers: bool = True,
        module: str = RUNTIME_CLIENT,
    ) -> None:
        self.state_dir = state_dir.resolve()
        self.log_directory = self.state_dir / "logs"
        self._artifact = Artifact.load(artifact) if artifact else None
        self.template = Template.load(self._artifact.template if self._artifact else template)
        self.workers = workers
        self._time_scale = time_scale or TimeScale()
        self._given_url = database_url
        self._environment = dict(environment or {})
        self._delivery = delivery or AsReceived()
        self._outlive = outlive
        self._api_port = api_port
        self._delivers = delivers
        self._module = module
        self._api: ApiGateway | None = None
        self._exit = ExitStack()
        self._undo = ExitStack()
        self._work = ExitStack()
        self.database_url = ""
        self.redis_url = ""
        self.aws: LocalAws
        self._functions: RunningFunctions
        self.runtime: Runtime
        self.pump: Pump

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self._exit.close()
            self._undo.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit.close()

    @property
    def s3(self) -> S3Client:
        """A client for the local S3."""
        return self.aws.s3

    @property
    def sqs(self) -> SQSClient:
        """A client for the local SQS."""
        return self.aws.sqs

    @property
    def sns(self) -> SNSClient:
        """A client for the local SNS."""
        return self.aws.sns

    @property
    def lambda_client(self) -> LambdaClient:
        """A client for the local Lambda; raises LocalError where the template has no durable functions."""
        return self.aws.lambda_client(self._functions.lambda_url)

    @property
    def bucket(self) -> str:
        """The name of the template's bucket; raises LocalError where it has none or several."""
        if len(self.template.buckets) != 1:
            raise LocalError(f"the template has {len(self.template.buckets)} buckets, not one")
        return next(iter(self.template.buckets.values())).name

    @property
    def api_url(self) -> str:
        """Where the API is, without a slash at the end; raises LocalError where the template has no routes."""
        if self._api is None:
            raise LocalError("the template has no routes of an HTTP API")
        return self._api.url

    @property
    def tokens(self) -> Tokens:
        """What signs the tokens that the API takes."""
        return Tokens.of(self.state_dir, self.template)

    def queue_url(self, queue: str) -> str:
        """The URL of a queue, given by its logical id."""
        return self.template.queue_url(queue, self.aws.endpoint)

    def invoke(self, function: str, payload: object) -> Any:
        """Invoke a function, given by its logical id; raises InvocationFailed."""
        return self.runtime.invoke(function, payload)

    def environment(self, function: str) -> dict[str, str]:
        """The variables that a function, given by its logical id, has beside those of its runtime."""
        return self._functions.environment(function)

    def executions(self, function: str) -> dict[str, str]:
        """The states (RUNNING, SUCCEEDED, FAILED ...) of a durable function's executions by their names."""
        return self._functions.executions(function)

    def wait_idle(self, timeout: float = 60.0) -> None:
        """Wait until no message waits, nothing is under way, every execution has ended; raises TimeoutError."""
        self._functions.wait_until_idle(timeout)

    def is_idle(self) -> bool:
        """Whether no message waits, nothing is under way and every execution has ended."""
        return self.pump.is_idle()

    def pause(self, seconds: float) -> None:
        """Sleep until some invocation is done or the time is over."""
        self.pump.activity.wait(seconds)

    def stop_work(self) -> None:
        """End the API and the functions for good, before the block does: nobody but its users changes the database."""
        self._work.close()

    def failures(self, after: int = 0) -> list[InvocationFailed]:
        """The failed invocations and executions so far, without the first `after`."""
        return self.pump.activity.failures(after)

    def _start(self) -> None:
        self._exit.enter_context(exclusive(self.state_dir))
        if self.template.routes:
            refuse_taken_port(self._api_port)
        shutil.rmtree(self.log_directory, ignore_errors=True)
        self.log_directory.mkdir(parents=True)
        processes = Processes()
        self._exit.callback(processes.stop)
        self.aws = LocalAws(processes, self.log_directory / "aws.log", self._time_scale)
        # The servers start side by side.
        self.aws.launch()
        with ThreadPoolExecutor(1) as beside:
            redis = beside.submit(self._start_redis)
            self.database_url = self._start_database()
            self.aws.await_start()
        self.redis_url = redis.result()
        self.aws.create(self.template)
        self._exit.enter_context(self._work)
        self._start_functions(processes)
        for function in self.template.on_deploy:
            self.invoke(function, {"RequestType": "Local"})
        if self._delivers:
            self.pump.start()
        if self.template.routes:
            self._api = ApiGateway(self.template.routes, self._functions.invoke_for_api, self.tokens, self._api_port)
            self._work.enter_context(self._api)

    def _start_redis(self) -> str:
        """Start Redis, where a function of the template asks for it; gives its URL, or nothing."""
        if not any("REDIS_URL" in function.environment for function in self.template.functions.values()):
            return ""
        redis = PrivateRedis(self.log_directory)
        self._exit.callback(redis.stop)
        return redis.start()

    def _start_database(self) -> str:
        if self._given_url:
            url = make_url(self._given_url)
            if not url.database:
                raise LocalError("DATABASE_URL names no schema; write it as in mysql+pymysql://user@host:3306/exhibits")
        else:
            server = PrivateServer(self.state_dir / "database", outlive=self._outlive)
            url = make_url(server.start()).set(database=SCHEMA)
            if server.started_here and not self._outlive:
                self._exit.callback(server.stop)
            elif server.started_here:
                self._undo.callback(server.stop)
        create_schema(url)
        return url.render_as_string(hide_password=False)

    def _start_functions(self, processes: Processes) -> None:
        servers = {"DATABASE_URL": self.database_url} | ({"REDIS_URL": self.redis_url} if self.redis_url else {})
        self._functions = RunningFunctions(
            self.template,
            self.aws,
            servers | self._environment,
            workers=self.workers,
            time_scale=self._time_scale,
            delivery=self._delivery,
            processes=processes,
            log_directory=self.log_directory,
            artifact=self._artifact,
            module=self._module,
        )
        self.runtime, self.pump = self._functions.runtime, self._functions.pump
        self._work.callback(self._functions.stop)


def create_schema(url: URL) -> None:
    """Create the schema that a URL names, if it is missing."""
    engine = create_engine(url.set(database=""))
    try:
        with engine.begin() as connection:
            name = engine.dialect.identifier_preparer.quote_identifier(url.database or "")
            connection.execute(text(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4"))
    finally:
        engine.dispose()
