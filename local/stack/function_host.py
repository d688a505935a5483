"""The running functions of one template: their workers, their event sources and their durable executions.

Guaranteed: after `stop` no worker, invocation, execution or thread of them is left.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local.errors import LocalError
from local.event_sources.poller import EventSourceMappings
from local.lambda_runtime.build_artifact import Artifact
from local.lambda_runtime.durable_host import DurableHost
from local.lambda_runtime.forking import ForkServer
from local.lambda_runtime.invocation import InvocationFailedError
from local.lambda_runtime.worker_pool import Runtime
from local.services.aws import LocalAws
from local.services.processes import Processes
from local.stack.options import StackOptions
from local.template.reader import Template


class FunctionHost:
    """The functions of one template; `environment` overrides the template's variables.

    Workers start at the first invocation, the event sources with `event_sources.start`.
    """

    def __init__(
        self,
        template: Template,
        aws: LocalAws,
        environment: Mapping[str, str],
        options: StackOptions,
        *,
        processes: Processes,
        log_directory: Path,
        artifact: Artifact | None = None,
        forks: ForkServer | None = None,
    ) -> None:
        self._template = template
        self._aws = aws
        self._overrides = dict(environment)
        self._durable: DurableHost | None = None
        # The functions need its address when they start.
        if template.durable_functions():
            self._durable = DurableHost(template, options.time_scale, log_directory / "durable.log", aws.storage)
        self.runtime = Runtime(
            template,
            environment=self._worker_environment,
            workers=options.workers,
            time_scale=options.time_scale,
            processes=processes,
            log_directory=log_directory,
            artifact=artifact,
            module=options.runtime_module,
            forks=forks,
        )
        self.event_sources = EventSourceMappings(
            template,
            aws,
            self.runtime.invoke,
            workers=options.workers,
            time_scale=options.time_scale,
            delivery=options.delivery,
            log=log_directory / "failures.log",
        )
        if self._durable:
            self._durable.serve(self.runtime.invoke, self.event_sources.activity, at_once=not options.minimal)

    @property
    def lambda_url(self) -> str:
        """Return the Lambda API's base URL, without a trailing slash; raise LocalError if no function is durable."""
        if self._durable is None:
            raise LocalError("the template has no durable functions")
        return self._durable.url

    def invoke_for_api(self, function: str, event: dict[str, Any]) -> Any:
        """Invoke a function for the HTTP API; record a failure, because the client does not see its details."""
        try:
            return self.runtime.invoke(function, event)
        except InvocationFailedError as failure:
            self.event_sources.activity.record_failure(failure)
            raise

    def environment(self, function: str) -> dict[str, str]:
        """Return a function's variables: the template's, the addresses of the local servers, and the overrides."""
        variables = self._template.environment(function, self._aws.endpoint)
        endpoint = {"AWS_ENDPOINT_URL_LAMBDA": self._durable.url} if self._durable else {}
        return variables | self._aws.environment() | endpoint | self._overrides

    def _worker_environment(self, function: str) -> dict[str, str]:
        """Return `environment` with the function's name as access key id, so that AWS requests name their sender."""
        return self.environment(function) | {"AWS_ACCESS_KEY_ID": function}

    def get_execution_statuses(self, function: str) -> dict[str, str]:
        """Return the status of each execution of a durable function by its name."""
        return self._durable.get_statuses(function) if self._durable else {}

    def wait_until_idle(self, timeout: float) -> None:
        """Wait until no work is left; raise TimeoutError with the messages and executions that remain."""
        try:
            self.event_sources.wait_until_idle(timeout)
        except TimeoutError as exc:
            names = self._durable.list_running() if self._durable else []
            raise TimeoutError(f"{exc}; running executions: {', '.join(names) or 'none'}") from exc

    def stop(self) -> None:
        """Accept no more work, then cut off what is running: polls by their server, invocations by their worker."""
        self.event_sources.announce_stop()
        if self._durable:
            self._durable.announce_stop()
        self._aws.stop()
        self.runtime.stop()
        if self._durable:
            self._durable.stop()
        self.event_sources.join()
