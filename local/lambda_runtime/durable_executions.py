"""Durable executions of the template's functions, run by AWS's own testing engine.

Checkpoints, replay, timers and retries are the engine's. Here is what it leaves open: invocations go to the workers,
execution names are unique within a function, waits go through the time scale, and what is under way or fails is told
to the stack. Executions live in memory and are kept, with their names, until the stack ends.
Differences from AWS: nothing is published, so every qualifier runs the code as it is; an execution's time-out is not
scaled, as it bounds work too; `context.invoke` and the time-outs of callbacks are the engine's own and not scaled.
"""

from __future__ import annotations

import threading
import uuid
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from aws_durable_execution_sdk_python_testing.checkpoint.processor import CheckpointProcessor
from aws_durable_execution_sdk_python_testing.child_dispatcher import UnconfiguredChildDispatcher
from aws_durable_execution_sdk_python_testing.execution import Execution, ExecutionStatus
from aws_durable_execution_sdk_python_testing.model import StartDurableExecutionInput
from aws_durable_execution_sdk_python_testing.worker.registry import ExecutionRegistry

from local.activity import Activity
from local.durable_engine import (
    ClosingScheduler,
    Executions,
    Invoke,
    ScaledClock,
    WakingExecutor,
    WorkerInvoker,
    arn_of,
    log_to,
    unlog,
)
from local.invocation import InvocationFailed
from local.template import ACCOUNT_ID, REGION
from local.time_scale import TimeScale
from local.wiring import Function

# The workers keep the functions' own time-outs. An execution takes a year at most.
_NEVER = 366 * 86_400


class NameTakenError(Exception):
    """An execution of that name was started with another payload."""


@dataclass(frozen=True)
class Started:
    """An execution; `closed` gives it once it has ended, and is cancelled when the stack goes down before that."""

    function: str
    name: str
    arn: str
    payload: str
    closed: Future[Execution] = field(default_factory=Future)


class DurableExecutions:
    """All executions of one template; end it with `announce_stop`, then the workers' end, then `stop`.

    `log` takes the engine's warnings, which go nowhere else.
    """

    def __init__(self, invoke: Invoke, activity: Activity, time_scale: TimeScale, log: Path) -> None:
        self._activity = activity
        self._log = log
        self._handler = log_to(log)
        self._lock = threading.Lock()
        self._started: dict[tuple[str, str], Started] = {}
        self._by_arn: dict[str, Started] = {}
        self._scheduler = ClosingScheduler()
        self._store = Executions(self._on_closed)
        self._registry = ExecutionRegistry(self._store, self._scheduler)
        self._invoker = WorkerInvoker(invoke, activity)
        self.executor = self._wire(ScaledClock(time_scale))
        self.executor.RETRY_BACKOFF_SECONDS = time_scale.wait(WakingExecutor.RETRY_BACKOFF_SECONDS)  # type: ignore[assignment]
        self._scheduler.start()

    def start(self, function: Function, qualifier: str, name: str, payload: str) -> Started:
        """Start an execution; the same name and payload give the one there is, another raises NameTakenError."""
        with self._lock:
            known = self._started.get((function.name, name))
            if known is None:
                return self._start_new(function, qualifier, name, payload)
        if known.payload != payload:
            raise NameTakenError(name)
        return known

    def statuses(self, function: str) -> dict[str, str]:
        """RUNNING, SUCCEEDED, FAILED, TIMED_OUT or STOPPED by the names of a function's executions."""
        with self._lock:
            started = [each for each in self._started.values() if each.function == function]
        return {each.name: self._store.load(each.arn).current_status().value for each in started}

    def under_way(self) -> list[str]:
        """The names of the executions that have not ended."""
        with self._lock:
            return [each.name for each in self._started.values() if not each.closed.done()]

    def announce_stop(self) -> None:
        """Invoke nothing more and report nothing more: workers are about to be killed."""
        self._invoker.stopping.set()
        self.executor.shutdown()

    def release(self) -> None:
        """Let go of whoever waits for an execution's end."""
        with self._lock:
            for each in self._started.values():
                each.closed.cancel()

    def stop(self) -> None:
        """End the engine's threads; no invocation may be under way any more."""
        self._registry.shutdown()
        self._scheduler.stop()
        for thread in list(self._invoker.threads):
            thread.join()
        unlog(self._handler)

    def _wire(self, clock: ScaledClock) -> WakingExecutor:
        """Put the engine's parts together, as its own WebRunner does."""
        processor = CheckpointProcessor(self._store, self._scheduler, clock=clock)
        executor = WakingExecutor(
            store=self._store,
            scheduler=self._scheduler,
            invoker=self._invoker,
            checkpoint_processor=processor,
            invocation_timeout_seconds=_NEVER,
            registry=self._registry,
            clock=clock,
            child_dispatcher=UnconfiguredChildDispatcher(),
            region=REGION,
        )
        processor.add_execution_observer(executor)
        processor.set_chained_invoke_preflight(executor.preflight_chained_invoke)
        return executor

    def _start_new(self, function: Function, qualifier: str, name: str, payload: str) -> Started:
        assert function.durable is not None  # noqa: S101 - the endpoint refuses others
        request = StartDurableExecutionInput(
            account_id=ACCOUNT_ID,
            function_name=function.name,
            function_qualifier=qualifier,
            execution_name=name,
            execution_timeout_seconds=function.durable.execution_timeout,
            execution_retention_period_days=function.durable.retention_days,
            invocation_id=str(uuid.uuid4()),
            input=payload,
        )
        started = Started(function.name, name, arn_of(request), payload)
        # Known before it runs: it may end at once.
        self._started[function.name, name] = self._by_arn[started.arn] = started
        self._activity.begin()
        self.executor.start_execution(request)
        return started

    def _on_closed(self, execution: Execution) -> None:
        """Tell an execution's end once, however often the engine writes it."""
        started = self._by_arn[execution.durable_execution_arn]
        if started.closed.done():
            return
        if execution.close_status in (ExecutionStatus.FAILED, ExecutionStatus.TIMED_OUT):
            self._activity.failed(_failure(started, execution, self._log))
        with suppress(InvalidStateError):
            started.closed.set_result(execution)
        self._activity.end()


def _failure(started: Started, execution: Execution, log: Path) -> InvocationFailed:
    assert execution.close_status is not None  # noqa: S101 - it has ended
    status, error = execution.close_status.value, execution.result.error if execution.result else None
    said = f"execution {started.name} {status}" + (f": {error.message}" if error else "")
    return InvocationFailed(started.function, (error and error.type) or status, said, log)
