"""Our replacements for parts of AWS's testing engine for durable functions: clock, store, executor, invoker and log.

Guaranteed: the engine's times are consistent with each other on every time scale, the end of every execution is
reported, handlers run in the stack's workers, and the engine writes to its own log file only.
"""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from weakref import WeakSet

from aws_durable_execution_sdk_python.execution import DurableExecutionInvocationInput
from aws_durable_execution_sdk_python_testing.clock import real_now
from aws_durable_execution_sdk_python_testing.execution import Execution
from aws_durable_execution_sdk_python_testing.executor import Executor
from aws_durable_execution_sdk_python_testing.invoker import InvokeResponse, LambdaInvoker
from aws_durable_execution_sdk_python_testing.model import StartDurableExecutionInput
from aws_durable_execution_sdk_python_testing.scheduler import Scheduler

from local.lambda_runtime.activity import Activity
from local.lambda_runtime.invocation import InvocationFailedError
from local.lambda_runtime.stored_executions import StoredExecutions
from local.storage.index import Index
from local.template.account import REGION
from local.time_scale import TimeScale

LATEST = "$LATEST"

_ENGINE = "aws_durable_execution_sdk_python_testing"

Invoke = Callable[[str, object], Any]


class ScaledClock:
    """The engine's clock, faster by the factor of the time scale, so that all of its times are consistent."""

    def __init__(self, time_scale: TimeScale) -> None:
        self._time_scale = time_scale
        self._started_at = real_now()

    def now(self) -> datetime:
        """Return the time on this clock, which is ahead of real time if the factor is below 1."""
        return self._started_at + (real_now() - self._started_at) / self._time_scale.factor

    def arm(self, wake: datetime) -> float:
        """Return the real seconds until a time on this clock, at least 0."""
        return max(self._time_scale.scale_wait((wake - self.now()).total_seconds()), 0.0)


class ClosingScheduler(Scheduler):
    """The engine's scheduler, extended to close its event loop when it stops."""

    def start(self) -> None:
        """Start the scheduler's thread."""
        super().start()  # type: ignore[no-untyped-call]

    def stop(self) -> None:
        """End the scheduler's threads and close the event loop."""
        super().stop()  # type: ignore[no-untyped-call]
        self._loop.close()


class Executions(StoredExecutions):
    """The engine's store, extended to report the end of executions and to assign ARNs in AWS's format."""

    def __init__(self, on_closed: Callable[[Execution], None], index: Index, clock: ScaledClock) -> None:
        super().__init__(index, clock.now)
        self._on_closed = on_closed

    def save(self, execution: Execution) -> None:
        """Save an execution and set its ARN; the engine calls this before any caller knows the ARN."""
        execution.durable_execution_arn = build_execution_arn(execution.start_input)
        super().save(execution)

    def update(self, execution: Execution) -> None:
        """Save a changed execution, and report it if it has ended."""
        super().update(execution)
        if execution.is_complete:
            self._on_closed(execution)


class WakingExecutor(Executor):
    """The engine's executor, changed to complete due operations and to invoke the function in one step.

    The engine invokes the function in a coroutine after it has completed the due operations. A checkpoint or a response
    that arrives in between sets another timer, which cancels the coroutine. The new timer finds no due operation, and
    the execution would stay RUNNING for ever.
    """

    def _fire_due_operations(self, execution_arn: str) -> bool:
        """Complete the due operations and invoke the function; return False, since nothing is left for the caller."""
        if super()._fire_due_operations(execution_arn):
            self._invoke_execution(execution_arn)
        return False


class WorkerInvoker(LambdaInvoker):
    """An invoker that runs the engine's invocations in worker processes; the engine retries one that raises.

    `threads` holds the engine's threads that have called it.
    """

    def __init__(self, invoke: Invoke, activity: Activity) -> None:
        super().__init__(lambda_client=None)
        self._invoke = invoke
        self._activity = activity
        self.stopping = threading.Event()
        self.threads: WeakSet[threading.Thread] = WeakSet()

    def create_invocation_input(self, execution: Execution) -> DurableExecutionInvocationInput:
        """Return the input of the next invocation of an execution."""
        self.threads.add(threading.current_thread())
        return super().create_invocation_input(execution)

    def invoke(
        self,
        function_name: str,
        input: DurableExecutionInvocationInput,  # noqa: A002 - the base class's name
        endpoint_url: str | None = None,
        tenant_id: str | None = None,
        account_id: str | None = None,
        region_name: str | None = None,
    ) -> InvokeResponse:
        """Invoke the function once and return its response.

        Raises InvocationFailedError if it fails, and the engine's InvalidInvocationOutputError if its output is not
        that of a durable function.
        """
        self.threads.add(threading.current_thread())
        with self._activity.track():
            try:
                output = self._invoke(function_name.partition(":")[0], input.to_json_dict())
            except InvocationFailedError as failure:
                if not self.stopping.is_set():
                    self._activity.record_failure(failure)
                raise
        return InvokeResponse.from_output(output, str(uuid.uuid4()))


def build_execution_arn(request: StartDurableExecutionInput) -> str:
    """Return the ARN of the execution that a request starts."""
    function = f"arn:aws:lambda:{REGION}:{request.account_id}:function:{request.function_name}"
    return f"{function}:{LATEST}/durable-execution/{request.execution_name}/{request.invocation_id}"


def attach_log_file(log: Path) -> logging.Handler:
    """Send the engine's warnings to a file only, and neither to the terminal nor to this process's log."""
    logger = logging.getLogger(_ENGINE)
    handler = logging.FileHandler(log, encoding="utf-8", delay=True)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    if not any(isinstance(each, logging.NullHandler) for each in logger.handlers):
        logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return handler


def detach_log_file(handler: logging.Handler) -> None:
    """Remove and close the handler that `attach_log_file` returned."""
    logging.getLogger(_ENGINE).removeHandler(handler)
    handler.close()
