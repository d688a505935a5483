"""The whole application on this machine: database, Redis, S3, SQS, SNS, functions, event sources and the API.

Guaranteed: no process of it is left after the block ends, whether by success, exception or Ctrl-C, and on Linux not
even if this process is killed. Only a database server that was running before, or that `keep_database` keeps, stays.
"""

from __future__ import annotations

import shutil
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from local.errors import LocalError
from local.lambda_runtime.forking import FORK_LOG, IMPORT_HANDLERS, RUNTIME_CLIENT, ForkServer
from local.services.aws import LocalAws
from local.services.processes import Processes
from local.services.state_lock import lock_state_directory
from local.stack.options import StackOptions
from local.stack.places import DATABASE, find_storage
from local.stack.restored import finish_restore

# The rest of the stack is imported when the servers have been launched: that takes a second of processor time.
if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sns import SNSClient
    from mypy_boto3_sqs import SQSClient

    from local.event_sources.poller import EventSourceMappings
    from local.gateway.server import ApiGateway
    from local.gateway.tokens import Tokens
    from local.lambda_runtime.build_artifact import Artifact
    from local.lambda_runtime.invocation import InvocationFailedError
    from local.lambda_runtime.worker_pool import Runtime
    from local.services.mysql import PrivateServer
    from local.stack.function_host import FunctionHost
    from local.template.reader import Template

SCHEMA = "exhibits"


class LocalStack:
    """The application, running while the `with` block runs; its data, logs and secrets are in `state_dir`.

    `launch` starts the servers before the block, so that the caller can work while they start; `close` must follow.
    A block within a block neither starts nor ends anything.
    """

    def __init__(self, state_dir: Path, options: StackOptions | None = None) -> None:
        self.state_dir = state_dir.resolve()
        self.log_directory = self.state_dir / "logs"
        self.options = options or StackOptions()
        self._api: ApiGateway | None = None
        self._launched, self._blocks = False, 0
        self._exit = ExitStack()
        self._failed_start = ExitStack()
        self._work = ExitStack()
        self.database_url = self.redis_url = ""
        self.aws: LocalAws
        self._processes: Processes
        self._forks: ForkServer
        self._database: Future[str]
        self._functions: FunctionHost
        self.runtime: Runtime
        self.event_sources: EventSourceMappings

    def __enter__(self) -> Self:
        if self._blocks:
            self._blocks += 1
            return self
        self.launch()
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        self._blocks = 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._blocks -= 1
        if not self._blocks:
            self.close()

    def launch(self) -> None:
        """Start the servers without waiting for them, unless that was done; raises StackBusyError and LocalError."""
        if not self._launched:
            self._launched = True
            try:
                self._launch()
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """End everything; of a stack that did not start, the database server that `keep_database` keeps too."""
        self._exit.close()
        self._failed_start.close()

    @cached_property
    def template(self) -> Template:
        """Return the template. Raises TemplateError."""
        from local.template.reader import Template

        return Template.load(self._artifact.template if self._artifact else self.options.template)

    @cached_property
    def _artifact(self) -> Artifact | None:
        from local.lambda_runtime.build_artifact import Artifact

        return Artifact.load(self.options.artifact) if self.options.artifact else None

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
            raise LocalError("the stack has no HTTP API: its template has no routes")
        return self._api.url

    @property
    def tokens(self) -> Tokens:
        """Return the issuer of the tokens that the API accepts."""
        from local.gateway.tokens import Tokens

        return Tokens.load(self.state_dir, self.template)

    @property
    def console_url(self) -> str:
        """Return the link that signs in to the console; raise LocalError if the template has no routes."""
        return f"{self.api_url}/console/{self._api.sign_in_fragment if self._api else ''}"

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

    def wait_until_idle(self, timeout: float = 600.0) -> None:
        """Wait until no message waits, no work is in progress and every execution has ended; raise TimeoutError."""
        self._functions.wait_until_idle(timeout)

    def request_api(
        self, tenant: str, user: str, method: str, path: str, body: object = None, if_match: str | None = None
    ) -> tuple[int, bytes]:
        """Send a request to the API, as this user, and return status code and body; the API need not be served."""
        from local.gateway.server import ApiGateway, build_own_request

        gateway = self._api or ApiGateway(self.template.routes, self._functions.invoke_for_api, self.tokens)
        token = self.tokens.issue(tenant, user)
        response = gateway.handle(build_own_request(token, method, path, body, if_match))
        return response.status, response.body

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

    @property
    def serves_api(self) -> bool:
        """Whether the stack serves the HTTP API."""
        return bool(self.template.routes)

    def _launch(self) -> None:
        self._exit.enter_context(lock_state_directory(self.state_dir))
        finish_restore(self.state_dir)
        if self.options.api_port and self.serves_api:
            from local.gateway.server import check_port_is_free

            check_port_is_free(self.options.api_port)
        shutil.rmtree(self.log_directory, ignore_errors=True)
        self.log_directory.mkdir(parents=True)
        self._processes = Processes()
        self._exit.callback(self._processes.stop)
        storage = find_storage(self.state_dir, self.options.database_url)
        self.aws = LocalAws(self._processes, self.log_directory / "aws.log", self.options.time_scale, storage)
        self.aws.launch()
        self._forks = ForkServer(self._processes, self.log_directory / FORK_LOG)
        if not self.options.artifact and self.options.runtime_module == RUNTIME_CLIENT:
            self._forks.launch()
        # After the others, which take longer to start, and meanwhile import what needs no template.
        self.aws.create_resources(self.template)
        self._forks.configure(self.template)
        from local.services.mysql import PrivateServer

        self._server = PrivateServer(
            self.state_dir / DATABASE, outlive=self.options.keep_database, tcp=self.options.database_tcp
        )
        # What a thread of it adds to the exit stack is closed before the executor, or else after it.
        executor = self._exit.enter_context(ThreadPoolExecutor(1, thread_name_prefix="database-start"))
        self._exit.callback(self._server.abandon)
        self._database = executor.submit(self._start_database, self._server)

    def _start(self) -> None:
        from local.services.redis import run_redis
        from local.stack import schema
        from local.stack.function_host import FunctionHost

        if not self.options.minimal and self.template.uses("REDIS_URL"):
            self.redis_url = self._exit.enter_context(run_redis(self.log_directory))
        self.database_url = self._database.result()
        is_current = schema.prepare_schema(self.database_url, self.options.migrations)
        self.aws.await_start()
        self._exit.enter_context(self._work)
        self._start_functions(FunctionHost)
        if not self.options.database_url:
            self.event_sources.activity.watch(self._server.check_running)
        for function in () if is_current else self.template.on_deploy:
            self.invoke(function, {"RequestType": "Local"})
        if self.options.poll_events:
            self.event_sources.start()
            self.runtime.prepare(self.template.list_functions(IMPORT_HANDLERS))
        if self.serves_api:
            self._start_api()
        self._failed_start.pop_all()

    def _start_database(self, server: PrivateServer) -> str:
        """Return DATABASE_URL, or start the private server and return the URL of the application's schema on it."""
        if self.options.database_url:
            return self.options.database_url
        server.start()
        if server.was_started_here:
            (self._failed_start if self.options.keep_database else self._exit).callback(server.stop)
        return server.url(SCHEMA)

    def _start_functions(self, host: type[FunctionHost]) -> None:
        servers = {"DATABASE_URL": self.database_url} | ({"REDIS_URL": self.redis_url} if self.redis_url else {})
        self._functions = host(
            self.template,
            self.aws,
            {**servers, "CONSOLE_SIGN_IN": "local", **self.options.environment},
            self.options,
            processes=self._processes,
            log_directory=self.log_directory,
            artifact=self._artifact,
            forks=self._forks,
        )
        self.runtime, self.event_sources = self._functions.runtime, self._functions.event_sources
        self._work.callback(self._functions.stop)

    def _start_api(self) -> None:
        from local.gateway.server import ApiGateway
        from local.gateway.sign_in import SignIn

        invoke, sign_in = self._functions.invoke_for_api, SignIn(self.tokens)
        self._api = ApiGateway(self.template.routes, invoke, self.tokens, self.options.api_port, sign_in=sign_in)
        self._work.enter_context(self._api)
