"""What the testing engine of AWS's durable functions is given here: a clock, a store, an invoker and a log.

Guarantees that its times agree with each other on every scale, that each end of an execution is told, that handlers
run in the stack's workers, and that the engine writes to its own log file alone.
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
from aws_durable_execution_sdk_python_testing.stores.memory import InMemoryExecutionStore

from local.activity import Activity
from local.invocation import InvocationFailed
from local.template import REGION
from local.time_scale import TimeScale

LATEST = "$LATEST"

_ENGINE = "aws_durable_execution_sdk_python_testing"

Invoke = Callable[[str, object], Any]


class ScaledClock:
    """A clock of the engine that runs as much faster as the scale is shorter, so that all its times agree."""

    def __init__(self, time_scale: TimeScale) -> None:
        self._time_scale = time_scale
        self._began = real_now()

    def now(self) -> datetime:
        """The time on this clock; ahead of the real one where the scale is below 1."""
        return self._began + (real_now() - self._began) / self._time_scale.factor

    def arm(self, wake: datetime) -> float:
        """Real seconds until a moment of this clock."""
        return max(self._time_scale.wait((wake - self.now()).total_seconds()), 0.0)


class ClosingScheduler(Scheduler):
    """The engine's scheduler, which leaves its event loop open when it stops."""

    def start(self) -> None:
        """Start its thread."""
        super().start()  # type: ignore[no-untyped-call]

    def stop(self) -> None:
        """End its threads, and close the loop."""
        super().stop()  # type: ignore[no-untyped-call]
        self._loop.close()


class Executions(InMemoryExecutionStore):
    """The engine's store in memory; tells which executions end, and gives them ARNs of AWS's form."""

    def __init__(self, on_closed: Callable[[Execution], None]) -> None:
        super().__init__()
        self._on_closed = on_closed

    def save(self, execution: Execution) -> None:
        """Keep an execution; the engine saves it first when nobody knows its ARN yet."""
        execution.durable_execution_arn = arn_of(execution.start_input)
        super().save(execution)

    def update(self, execution: Execution) -> None:
        """Keep an execution that may have ended."""
        super().update(execution)
        if execution.is_complete:
            self._on_closed(execution)


class WakingExecutor(Executor):
    """The engine's executor, in which nothing comes between completing what is due and invoking for it.

    The engine does the second in a coroutine behind the first, which a checkpoint or an answer that comes meanwhile
    cancels, for it arms another timer; that one finds nothing due, and the execution would stay under way for ever.
    """

    def _fire_due_operations(self, execution_arn: str) -> bool:
        """Complete what is due, and invoke for it; False, for nothing is left to do for the caller."""
        if super()._fire_due_operations(execution_arn):
            self._invoke_execution(execution_arn)
        return False


class WorkerInvoker(LambdaInvoker):
    """Hands the engine's invocations to worker processes; a failed one raises, which the engine retries.

    `threads` are the engine's threads that were seen here.
    """

    def __init__(self, invoke: Invoke, activity: Activity) -> None:
        super().__init__(lambda_client=None)
        self._invoke = invoke
        self._activity = activity
        self.stopping = threading.Event()
        self.threads: WeakSet[threading.Thread] = WeakSet()

    def create_invocation_input(self, execution: Execution) -> DurableExecutionInvocationInput:
        """What the function is invoked with."""
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
        """Run the function once; raises InvocationFailed, and InvalidInvocationOutputError where it is not durable."""
        self.threads.add(threading.current_thread())
        with self._activity.one():
            try:
                output = self._invoke(function_name.partition(":")[0], input.to_json_dict())
            except InvocationFailed as failure:
                if not self.stopping.is_set():
                    self._activity.failed(failure)
                raise
        return InvokeResponse.from_output(output, str(uuid.uuid4()))


def arn_of(request: StartDurableExecutionInput) -> str:
    """The ARN of the execution that a request starts."""
    function = f"arn:aws:lambda:{REGION}:{request.account_id}:function:{request.function_name}"
    return f"{function}:{LATEST}/durable-execution/{request.execution_name}/{request.invocation_id}"


def log_to(log: Path) -> logging.Handler:
    """Let the engine's warnings go to a file, and neither to the terminal nor to this process's own log."""
    logger = logging.getLogger(_ENGINE)
    handler = logging.FileHandler(log, encoding="utf-8", delay=True)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    if not any(isinstance(each, logging.NullHandler) for each in logger.handlers):
        logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return handler


def unlog(handler: logging.Handler) -> None:
    """End what `log_to` began."""
    logging.getLogger(_ENGINE).removeHandler(handler)
    handler.close()
