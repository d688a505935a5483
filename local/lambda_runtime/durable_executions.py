"""Durable executions of the template's functions, run by AWS's testing engine.

The engine does checkpoints, replay, timers and retries. This module adds the rest: invocations run in the workers,
execution names are unique within a function, waits are scaled, and the stack's `Activity` counts running and failed
executions. Executions and their names are on disk: those that have not ended go on when the engine starts again.
Differences from AWS: no versions are published, so every qualifier runs the current code. The timeout of an execution
is not scaled, because it limits work too. `context.invoke` and callback timeouts are the engine's and not scaled.
"""

from __future__ import annotations

import threading
import time
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

from local.lambda_runtime.activity import Activity
from local.lambda_runtime.durable_engine import (
    ClosingScheduler,
    Executions,
    Invoke,
    ScaledClock,
    WakingExecutor,
    WorkerInvoker,
    attach_log_file,
    build_execution_arn,
    detach_log_file,
)
from local.lambda_runtime.invocation import InvocationFailedError
from local.storage.index import Index
from local.template.account import ACCOUNT_ID, REGION
from local.template.model import Function
from local.time_scale import TimeScale

# The workers enforce the functions' timeouts. An execution takes a year at most.
_NO_TIMEOUT_SECONDS = 366 * 86_400
_TRIMMED_AT_ONCE, _TRIM_SECONDS = 100, 3_600.0


class ExecutionAlreadyStartedError(Exception):
    """An execution with this name was started with a different payload."""


@dataclass(frozen=True)
class StartedExecution:
    """An execution; `closed` completes when it ends, and is cancelled if the stack stops before that."""

    function: str
    name: str
    arn: str
    payload: str
    closed: Future[None] = field(default_factory=Future)


class DurableExecutions:
    """All durable executions of one template; `log` receives the engine's warnings.

    To end it, call `announce_stop`, then stop the workers, then call `release` and `stop`.
    """

    def __init__(self, invoke: Invoke, activity: Activity, time_scale: TimeScale, log: Path, index: Index) -> None:
        self._activity = activity
        self._log = log
        self._handler = attach_log_file(log)
        self._lock = threading.Lock()
        self._started: dict[tuple[str, str], StartedExecution] = {}
        self._by_arn: dict[str, StartedExecution] = {}
        self._trims_at = 0.0
        self._scheduler = ClosingScheduler()
        clock = ScaledClock(time_scale)
        self._store = Executions(self._on_closed, index, clock)
        self._registry = ExecutionRegistry(self._store, self._scheduler)
        self._invoker = WorkerInvoker(invoke, activity)
        self.executor = self._build_executor(clock)
        self.executor.RETRY_BACKOFF_SECONDS = time_scale.scale_wait(WakingExecutor.RETRY_BACKOFF_SECONDS)  # type: ignore[assignment]
        self._scheduler.start()
        self._continue_unfinished()

    def start(self, function: Function, qualifier: str, name: str, payload: str) -> StartedExecution:
        """Start an execution and return it, or return the one that was started with the same name and payload.

        Concurrent callers with the same name get the same execution. Raises ExecutionAlreadyStartedError if the name
        was used with a different payload.
        """
        with self._lock:
            self._trim()
            known = self._started.get((function.name, name))
            if known is None:
                return self._start_new(function, qualifier, name, payload)
        if known.payload != payload:
            raise ExecutionAlreadyStartedError(name)
        return known

    def load(self, started: StartedExecution) -> Execution:
        """Return the execution as the engine has it, also after its end."""
        return self._store.load(started.arn)

    def get_statuses(self, function: str) -> dict[str, str]:
        """Return RUNNING, SUCCEEDED, FAILED, TIMED_OUT or STOPPED by the name of each execution of a function."""
        with self._lock:
            started = [each for each in self._started.values() if each.function == function]
        return {each.name: self._store.load(each.arn).current_status().value for each in started}

    def list_running(self) -> list[str]:
        """Return the names of the executions that have not ended."""
        with self._lock:
            return [each.name for each in self._started.values() if not each.closed.done()]

    def announce_stop(self) -> None:
        """Invoke and report nothing from now on, because the workers are about to be killed."""
        self._invoker.stopping.set()
        self.executor.shutdown()

    def release(self) -> None:
        """Cancel the futures of the running executions, so that no caller waits for their end."""
        with self._lock:
            for each in self._started.values():
                each.closed.cancel()

    def stop(self) -> None:
        """End the engine's threads; no invocation may be in progress."""
        self._registry.shutdown()
        self._scheduler.stop()
        for thread in list(self._invoker.threads):
            thread.join()
        detach_log_file(self._handler)

    def _trim(self) -> None:
        """Forget executions that Lambda would not retain any more: some at each start, and none for an hour at the end.

        So the executions of months take no start longer, and no thread is needed for them.
        """
        if time.monotonic() < self._trims_at:
            return
        expired = self._store.trim(_TRIMMED_AT_ONCE)
        for arn in expired:
            started = self._by_arn.pop(arn, None)
            if started is not None:
                self._started.pop((started.function, started.name), None)
        if len(expired) < _TRIMMED_AT_ONCE:
            self._trims_at = time.monotonic() + _TRIM_SECONDS

    def _continue_unfinished(self) -> None:
        """Register the executions of an earlier engine, and invoke those that had not ended."""
        for function, name, arn, payload, has_ended in self._store.list_names():
            started = StartedExecution(function, name, arn, payload)
            self._started[function, name] = self._by_arn[arn] = started
            if has_ended:
                started.closed.set_result(None)
        for execution in self._store.load_unfinished():
            self._activity.begin()
            arn, timeout = execution.durable_execution_arn, execution.start_input.execution_timeout_seconds
            self.executor._launch_execution(execution, timeout)
            self.executor._schedule_earliest_pending(arn)

    def _build_executor(self, clock: ScaledClock) -> WakingExecutor:
        """Assemble the engine's parts as its WebRunner does."""
        processor = CheckpointProcessor(self._store, self._scheduler, clock=clock)
        executor = WakingExecutor(
            store=self._store,
            scheduler=self._scheduler,
            invoker=self._invoker,
            checkpoint_processor=processor,
            invocation_timeout_seconds=_NO_TIMEOUT_SECONDS,
            registry=self._registry,
            clock=clock,
            child_dispatcher=UnconfiguredChildDispatcher(),
            region=REGION,
        )
        processor.add_execution_observer(executor)
        processor.set_chained_invoke_preflight(executor.preflight_chained_invoke)
        return executor

    def _start_new(self, function: Function, qualifier: str, name: str, payload: str) -> StartedExecution:
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
        started = StartedExecution(function.name, name, build_execution_arn(request), payload)
        # Registered before it starts, because it may end at once.
        self._started[function.name, name] = self._by_arn[started.arn] = started
        self._activity.begin()
        self.executor.start_execution(request)
        return started

    def _on_closed(self, execution: Execution) -> None:
        """Report the end of an execution once, however often the engine saves it."""
        started = self._by_arn[execution.durable_execution_arn]
        if started.closed.done():
            return
        if execution.close_status in (ExecutionStatus.FAILED, ExecutionStatus.TIMED_OUT):
            self._activity.record_failure(_build_failure(started, execution, self._log))
        with suppress(InvalidStateError):
            started.closed.set_result(None)
        self._activity.end()


def _build_failure(started: StartedExecution, execution: Execution, log: Path) -> InvocationFailedError:
    assert execution.close_status is not None  # noqa: S101 - it has ended
    status, error = execution.close_status.value, execution.result.error if execution.result else None
    message = f"execution {started.name} {status}" + (f": {error.message}" if error else "")
    return InvocationFailedError(started.function, (error and error.type) or status, message, log)
