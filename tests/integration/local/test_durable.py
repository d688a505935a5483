"""Durable functions run as Lambda runs them: checkpointed, re-invoked, known by the names of their executions."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from botocore.exceptions import BotoCoreError, ClientError

from local.stack import LocalStack, StackOptions
from tests.support.database.counted_database import until

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.integration.local.conftest import ToyResults

ALIAS = "arn:aws:lambda:us-east-1:123456789012:function:SagaFunction:live"
STEP_ERROR = "aws_durable_execution_sdk_python.exceptions.StepError"


class Sagas:
    """Starts executions of the toy's durable function and asks for them, as a caller of AWS does."""

    def __init__(self, stack: LocalStack, toy_results: ToyResults) -> None:
        self.stack, self.client, self._results = stack, stack.lambda_client, toy_results

    def start(self, name: str, function: str = ALIAS, **event: Any) -> str:
        """Start one whose steps tell its name; gives the ARN of the execution."""
        answer = self.client.invoke(
            FunctionName=function,
            InvocationType="Event",
            DurableExecutionName=name,
            Payload=json.dumps({"saga": name, **event}),
        )
        assert answer["StatusCode"] == 202
        return answer["DurableExecutionArn"]

    def get(self, arn: str) -> Any:
        """What AWS tells of an execution."""
        return self.client.get_durable_execution(DurableExecutionArn=arn)

    def result(self, arn: str) -> Any:
        """Wait until it has succeeded; gives its result."""
        self.stack.wait_until_idle()
        found = self.get(arn)
        assert found["Status"] == "SUCCEEDED", found
        return json.loads(found["Result"])

    def steps(self, name: str) -> list[str]:
        """The steps that were run, not replayed, in order."""
        return [each["step"] for each in self._results.matching(lambda entry: entry.get("saga") == name)]

    def stand_at_the_gate(self, name: str) -> int:
        """Wait until a worker is in the gate's step; gives its process."""
        entry = self._results.first(lambda entry: (entry.get("saga"), entry.get("step")) == (name, "gate"))
        assert entry["pid"] in self.stack.runtime.busy_pids("SagaFunction")
        return int(entry["pid"])


@pytest.fixture
def sagas(stack: LocalStack, toy_results: ToyResults) -> Sagas:
    stack.wait_until_idle()
    return Sagas(stack, toy_results)


@pytest.fixture
def name() -> str:
    return str(uuid.uuid4())


def test_an_execution_waits_and_retries_in_scaled_time_repeats_no_step_and_is_found_by_its_name(
    sagas: Sagas, name: str
) -> None:
    before = time.monotonic()
    arn = sagas.start(name, wait=600, fail_times=2)
    assert sagas.result(arn)["attempts"] == 3
    assert 1.2 <= time.monotonic() - before < 120
    assert sagas.steps(name) == ["first"]
    assert arn.startswith(f"{ALIAS.removesuffix('live')}$LATEST/durable-execution/{name}/")
    assert sagas.get(arn)["DurableExecutionName"] == name
    listed = sagas.client.list_durable_executions_by_function(
        FunctionName=ALIAS, DurableExecutionName=name, Statuses=["SUCCEEDED"]
    )
    assert [each["DurableExecutionArn"] for each in listed["DurableExecutions"]] == [arn]
    history = sagas.client.get_durable_execution_history(DurableExecutionArn=arn)
    assert history["Events"][0]["EventType"] == "ExecutionStarted"


def test_an_execution_that_fails_is_reported_once(sagas: Sagas, name: str) -> None:
    before = len(sagas.stack.failures())
    arn = sagas.start(name, fail_times=9)
    sagas.stack.wait_until_idle()
    (failure,) = sagas.stack.failures(before)
    assert (failure.function, failure.error_type) == ("SagaFunction", STEP_ERROR)
    assert f"execution {name} FAILED: as you wished" in str(failure)
    assert (sagas.get(arn)["Status"], sagas.get(arn)["Error"]["ErrorType"]) == ("FAILED", STEP_ERROR)


def test_a_worker_killed_in_a_step_is_replaced_and_goes_on_from_the_checkpoint(
    sagas: Sagas, name: str, tmp_path: Path
) -> None:
    before = len(sagas.stack.failures())
    arn = sagas.start(name, gate=str(tmp_path / "gate"))
    killed = sagas.stand_at_the_gate(name)
    os.kill(killed, signal.SIGKILL)
    (tmp_path / "gate").touch()
    result = sagas.result(arn)
    assert (result["first"], result["last"] != killed) == (killed, True)
    assert sagas.steps(name) == ["first", "gate", "gate"]
    assert [failure.error_type for failure in sagas.stack.failures(before)] == ["Runtime.ExitError"]


def test_a_name_is_of_one_execution_with_one_payload(sagas: Sagas, name: str) -> None:
    first = sagas.start(name, wait=60)
    assert sagas.start(name, wait=60) == first
    sagas.result(first)
    assert sagas.start(name, wait=60) == first
    assert sagas.steps(name) == ["first"]
    with pytest.raises(sagas.client.exceptions.DurableExecutionAlreadyStartedException):
        sagas.start(name, wait=61)


def test_an_execution_that_waits_keeps_the_stack_from_being_idle_until_it_is_stopped(sagas: Sagas, name: str) -> None:
    before = len(sagas.stack.failures())
    arn = sagas.start(name, wait=31_536_000)
    while not sagas.steps(name) or sagas.stack.runtime.busy_pids("SagaFunction"):
        sagas.stack.wait_for_activity(0.05)
    assert (sagas.get(arn)["Status"], sagas.stack.is_idle()) == ("RUNNING", False)
    sagas.client.stop_durable_execution(DurableExecutionArn=arn)
    sagas.stack.wait_until_idle()
    assert (sagas.get(arn)["Status"], sagas.stack.failures(before)) == ("STOPPED", [])


def test_an_execution_has_its_time_out(sagas: Sagas, name: str) -> None:
    before = len(sagas.stack.failures())
    arn = sagas.start(name, "BriefSagaFunction:live", wait=31_536_000)
    sagas.stack.wait_until_idle()
    assert sagas.get(arn)["Status"] == "TIMED_OUT"
    assert [failure.error_type for failure in sagas.stack.failures(before)] == ["TIMED_OUT"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "without its alias": ({"FunctionName": "SagaFunction"}, "InvalidParameterValueException"),
    "a function that is not durable": ({"FunctionName": "EchoFunction"}, "InvalidParameterValueException"),
    "another alias": ({"FunctionName": "SagaFunction:other"}, "ResourceNotFoundException"),
    "no function": ({"FunctionName": "NoFunction:live"}, "ResourceNotFoundException"),
    "a payload that is not JSON": ({"FunctionName": ALIAS, "Payload": "no json"}, "InvalidRequestContentException"),
    "a name with a slash": (
        {"FunctionName": ALIAS, "DurableExecutionName": "a/b"},
        "InvalidParameterValueException",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_lambda_would_not_start_is_refused(sagas: Sagas, kind: str) -> None:
    arguments, code = REFUSED[kind]
    with pytest.raises(ClientError) as refused:
        sagas.client.invoke(**arguments, InvocationType="Event")
    assert refused.value.response["Error"]["Code"] == code


def test_an_execution_that_was_not_started_is_not_found(sagas: Sagas) -> None:
    with pytest.raises(sagas.client.exceptions.ResourceNotFoundException):
        sagas.get("none")


def test_a_stack_that_goes_down_with_executions_under_way_leaves_nothing(
    tmp_path: Path, stack: LocalStack, listen: Callable[[LocalStack], ToyResults], capfd: pytest.CaptureFixture[str]
) -> None:
    threads, handlers = set(threading.enumerate()), list(logging.getLogger().handlers)
    options: Any = {"template": stack.template.path, "database_url": stack.database_url}
    with LocalStack(tmp_path, StackOptions(time_scale=stack.options.time_scale, **options)) as other:
        sagas = Sagas(other, listen(other))
        sagas.start("waits", wait=31_536_000)
        sagas.start("stands", gate=str(tmp_path / "gate"))
        pid = sagas.stand_at_the_gate("stands")
        caller = threading.Thread(target=_wait_in_vain, args=[sagas.client])
        caller.start()
        while "requested" not in other.get_execution_statuses("SagaFunction"):
            other.wait_for_activity(0.05)
    caller.join(60)
    assert (caller.is_alive(), psutil.pid_exists(pid), other.failures()) == (False, False, [])
    until(lambda: not any(_of_the_stack(each) for each in set(threading.enumerate()) - threads))
    assert (logging.getLogger().handlers, capfd.readouterr().err) == (handlers, "")


def _wait_in_vain(client: Any) -> None:
    payload = json.dumps({"saga": "requested", "wait": 31_536_000})
    with pytest.raises((BotoCoreError, ClientError)):
        client.invoke(FunctionName=ALIAS, DurableExecutionName="requested", Payload=payload)


def _of_the_stack(thread: threading.Thread) -> bool:
    """Workers of the stack that other tests use may be replaced at any time."""
    return not thread.name.startswith(("runtime-api-", "watch-"))
