"""The functions of one template at work: their workers, the pump that feeds them, and their durable executions.

Guarantees that after `stop` nothing of it runs: no worker, no invocation, no execution, no thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local.artifact import Artifact
from local.aws import LocalAws
from local.delivery import Delivery
from local.errors import LocalError
from local.invocation import InvocationFailed
from local.processes import Processes
from local.pump import Pump
from local.runtime import Runtime
from local.template import Template
from local.time_scale import TimeScale
from local.worker import RUNTIME_CLIENT

if TYPE_CHECKING:
    from local.durable import DurableExecutions
    from local.lambda_api import LambdaApi


class RunningFunctions:
    """Workers start at the first invocation, the pump with `pump.start`; `environment` wins over the template's."""

    def __init__(
        self,
        template: Template,
        aws: LocalAws,
        environment: Mapping[str, str],
        *,
        workers: int,
        time_scale: TimeScale,
        delivery: Delivery,
        processes: Processes,
        log_directory: Path,
        artifact: Artifact | None = None,
        module: str = RUNTIME_CLIENT,
    ) -> None:
        self._template = template
        self._aws = aws
        self._given = dict(environment)
        self._lambda: LambdaApi | None = None
        self._durable: DurableExecutions | None = None
        self._listen()
        self.runtime = Runtime(
            template,
            environment=self._environment_of,
            workers=workers,
            time_scale=time_scale,
            processes=processes,
            log_directory=log_directory,
            artifact=artifact,
            module=module,
        )
        self.pump = Pump(
            template,
            aws,
            self.runtime.invoke,
            workers=workers,
            time_scale=time_scale,
            delivery=delivery,
            log=log_directory / "failures.log",
        )
        self._serve(time_scale, log_directory / "durable.log")

    @property
    def lambda_url(self) -> str:
        """Where the Lambda API is, without a slash at the end; raises LocalError where no function is durable."""
        if self._lambda is None:
            raise LocalError("the template has no durable functions")
        return self._lambda.url

    def invoke_for_api(self, function: str, event: dict[str, Any]) -> Any:
        """Invoke; a failure, of which the client is told nothing, is noted with those of the pump."""
        try:
            return self.runtime.invoke(function, event)
        except InvocationFailed as failure:
            self.pump.activity.failed(failure)
            raise

    def environment(self, function: str) -> dict[str, str]:
        """The function's variables: the template's, those that lead to the local servers, and the stack's own."""
        found = self._template.environment(function, self._aws.endpoint)
        endpoint = {"AWS_ENDPOINT_URL_LAMBDA": self._lambda.url} if self._lambda else {}
        return found | self._aws.environment() | endpoint | self._given

    def _environment_of(self, function: str) -> dict[str, str]:
        """`environment`, and its own name as key id, so that every request to AWS tells which function made it."""
        return self.environment(function) | {"AWS_ACCESS_KEY_ID": function}

    def executions(self, function: str) -> dict[str, str]:
        """The states of a durable function's executions by their names; empty where there are none."""
        return self._durable.statuses(function) if self._durable else {}

    def wait_until_idle(self, timeout: float) -> None:
        """Wait until nothing is under way; raises TimeoutError saying what it still waited for."""
        try:
            self.pump.wait_until_idle(timeout)
        except TimeoutError as exc:
            names = self._durable.under_way() if self._durable else []
            raise TimeoutError(f"{exc}; executions under way: {', '.join(names) or 'none'}") from exc

    def stop(self) -> None:
        """Take on nothing more, then cut off what is under way: polls from their server, invocations from a worker."""
        self.pump.announce_stop()
        if self._durable:
            self._durable.announce_stop()
        self._aws.stop()
        self.runtime.stop()
        if self._durable and self._lambda:
            self._durable.release()
            self._lambda.close()
            self._durable.stop()
        self.pump.join()

    def _listen(self) -> None:
        """Open the Lambda API's port, which the functions are told at their start."""
        if self._template.durable_functions():
            # Imported here: a quarter of a second that no other template has to wait for.
            from local.lambda_api import LambdaApi

            self._lambda = LambdaApi(self._template)

    def _serve(self, time_scale: TimeScale, log: Path) -> None:
        if self._lambda:
            from local.durable import DurableExecutions

            self._durable = DurableExecutions(self.runtime.invoke, self.pump.activity, time_scale, log)
            self._lambda.serve(self._durable)
