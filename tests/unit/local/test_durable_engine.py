"""Durable executions without a stack: names, ends, one clock, and an engine that is quiet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from aws_durable_execution_sdk_python.lambda_service import OperationAction, OperationType, OperationUpdate, WaitOptions
from aws_durable_execution_sdk_python_testing.execution import Execution
from aws_durable_execution_sdk_python_testing.executor import Executor

from local.lambda_runtime.activity import Activity
from local.lambda_runtime.durable_engine import ScaledClock, WakingExecutor
from local.lambda_runtime.durable_executions import (
    DurableExecutions,
    ExecutionAlreadyStartedError,
    StartedExecution,
)
from local.lambda_runtime.invocation import InvocationFailedError
from local.storage.index import Index
from local.template.model import DurableConfig, Function
from local.time_scale import TimeScale

SAGA = Function("Saga", "saga.handler", 60, 128, {}, alias="live", durable=DurableConfig(3600, 7))


@contextmanager
def engine(folder: Path, invoke: Callable[[str, object], Any]) -> Iterator[tuple[DurableExecutions, Activity]]:
    """An engine whose functions are one callable."""
    activity, index = Activity(folder / "failures.log"), Index(folder / "objects")
    executions = DurableExecutions(invoke, activity, TimeScale(0.001), folder / "durable.log", index)
    try:
        yield executions, activity
    finally:
        executions.announce_stop()
        executions.release()
        executions.stop()
        index.close()


def succeed(function: str, payload: object) -> dict[str, str]:
    return {"Status": "SUCCEEDED", "Result": "1"}


class Meeting(dict[Any, StartedExecution]):
    """A caller that has looked up a name waits for another that does, if one can, for so many seconds."""

    def __init__(self, patience: float) -> None:
        super().__init__()
        self._both, self._patience = threading.Barrier(2), patience

    def get(self, key: Any, default: Any = None) -> Any:
        found = super().get(key, default)
        with suppress(threading.BrokenBarrierError):
            self._both.wait(self._patience)
        return found


def _started_by_two(executions: DurableExecutions, patience: float) -> set[str]:
    executions._started = Meeting(patience)
    with ThreadPoolExecutor(2) as callers:
        return {each.arn for each in callers.map(lambda _: executions.start(SAGA, "live", "one", "{}"), range(2))}


def test_two_callers_of_one_name_get_one_execution(tmp_path: Path) -> None:
    with engine(tmp_path, succeed) as (executions, _):
        assert len(_started_by_two(executions, 0.2)) == 1


def test_without_the_lock_two_callers_of_one_name_start_two(tmp_path: Path) -> None:
    with engine(tmp_path, succeed) as (executions, _):
        executions._lock = nullcontext()  # type: ignore[assignment]
        assert len(_started_by_two(executions, 60)) == 2


def test_an_invocation_that_fails_is_tried_five_times(tmp_path: Path) -> None:
    calls = []

    def fail(function: str, payload: object) -> None:
        calls.append(function)
        raise InvocationFailedError(function, "Runtime.ExitError", "it died", tmp_path)

    with engine(tmp_path, fail) as (executions, activity):
        executions.start(SAGA, "live", "one", "{}").closed.result(60)
        assert (calls, executions.get_statuses("Saga")) == (["Saga"] * 5, {"one": "FAILED"})
        assert len(activity.failures()) == 5 + 1


class Waiting:
    """A function that waits for a moment in its first invocation, and answers when the wait is over."""

    def __init__(self) -> None:
        self.executor: Executor | None = None
        self.calls = 0
        self.due = threading.Event()

    def __call__(self, function: str, payload: Any) -> dict[str, str]:
        self.calls += 1
        if self.calls > 1:
            return succeed(function, payload)
        assert self.executor
        wait = OperationUpdate("wait", OperationType.WAIT, OperationAction.START, wait_options=WaitOptions(1))
        self.executor.checkpoint_execution(payload["DurableExecutionArn"], payload["CheckpointToken"], [wait])
        # The wait ends, and its timer fires, before the answer comes.
        self.due.wait(60)
        return {"Status": "PENDING"}


def _ended_behind_a_timer_that_was_replaced(tmp_path: Path, executor: type[Executor], patience: float) -> bool:
    """Whether an execution ends in time whose timer is replaced, as by an answer, when what was due is completed."""
    waiting = Waiting()
    with engine(tmp_path, waiting) as (executions, _):
        waiting.executor = executions.executor
        executions.executor.__class__ = executor  # type: ignore[assignment]
        complete = executions._store.update

        def completing(execution: Execution) -> None:
            complete(execution)
            if not execution.has_pending_operations(execution):
                executions.executor._schedule_earliest_pending(execution.durable_execution_arn)
                waiting.due.set()

        executions._store.update = completing  # type: ignore[method-assign]
        started = executions.start(SAGA, "live", "one", "{}")
        with suppress(TimeoutError):
            started.closed.result(patience)
        return started.closed.done()


def test_an_execution_goes_on_though_its_timer_is_replaced_while_it_fires(tmp_path: Path) -> None:
    assert _ended_behind_a_timer_that_was_replaced(tmp_path, WakingExecutor, 20)


def test_the_engine_as_it_is_loses_such_an_execution(tmp_path: Path) -> None:
    assert not _ended_behind_a_timer_that_was_replaced(tmp_path, Executor, 1)


def test_an_output_that_is_none_of_a_durable_function_fails_the_execution_at_once(tmp_path: Path) -> None:
    with engine(tmp_path, lambda *_: {"batchItemFailures": []}) as (executions, activity):
        executions.start(SAGA, "live", "one", "{}").closed.result(60)
        assert [failure.error_type for failure in activity.failures()] == ["InvalidParameterValueException"]


def test_a_scaled_clock_runs_faster_by_as_much_as_its_waits_are_shorter() -> None:
    clock = ScaledClock(TimeScale(0.001))
    began = clock.now()
    seconds = clock.arm(began + timedelta(hours=1))
    assert 3.5 < seconds <= 3.6
    assert clock.arm(began) == 0.0
    assert clock.now() > began


def test_a_clock_that_is_not_scaled_is_the_real_one() -> None:
    clock = ScaledClock(TimeScale())
    assert 59 < clock.arm(clock.now() + timedelta(minutes=1)) <= 60


class Killed:
    """A function that is killed in the middle, when `killed` is set."""

    def __init__(self) -> None:
        self.invoked, self.killed = threading.Event(), threading.Event()
        self.payloads: list[Any] = []

    def __call__(self, function: str, payload: Any) -> dict[str, Any]:
        self.payloads.append(payload)
        self.invoked.set()
        assert self.killed.wait(30)
        raise InvocationFailedError(function, "Runtime.ExitError", "killed", Path("log"))


def test_an_execution_that_had_not_ended_goes_on_with_the_next_engine(tmp_path: Path) -> None:
    killed = Killed()
    with engine(tmp_path, killed) as (executions, _):
        started = executions.start(SAGA, "live", "one", '{"n": 1}')
        assert killed.invoked.wait(30)
        executions.announce_stop()
        killed.killed.set()
    with engine(tmp_path, succeed) as (executions, _):
        again = executions.start(SAGA, "live", "one", '{"n": 1}')
        again.closed.result(30)
        executions.start(SAGA, "live", "two", "{}").closed.result(30)
        assert (again.arn, executions.get_statuses("Saga")) == (started.arn, {"one": "SUCCEEDED", "two": "SUCCEEDED"})
    unused = Killed()
    with engine(tmp_path, unused) as (executions, _):
        # What has ended is known and does not run again.
        executions.start(SAGA, "live", "two", "{}").closed.result(30)
        assert (executions.list_running(), unused.payloads) == ([], [])
        with pytest.raises(ExecutionAlreadyStartedError):
            executions.start(SAGA, "live", "two", '{"another": "payload"}')
