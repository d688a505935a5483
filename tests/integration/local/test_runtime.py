"""Functions run in processes of AWS's own runtime client, under Lambda's rules."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from local.errors import LocalError
from local.lambda_runtime.invocation import STARTS, FunctionStartError, InvocationFailedError
from local.lambda_runtime.worker_pool import Runtime
from local.services.processes import Processes
from local.stack import LocalStack, StackOptions
from local.template.reader import Template
from local.time_scale import TimeScale
from tests.support.database.server_status import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@pytest.fixture(scope="module")
def runtime(toy_template: Path, logs: Path) -> Iterator[Runtime]:
    template = Template.load(toy_template)
    processes = Processes()
    environment = {"AWS_DEFAULT_REGION": "us-east-1", "GREETING": "overridden"}
    running = Runtime(
        template,
        environment=lambda function: environment,
        workers=2,
        time_scale=TimeScale(),
        processes=processes,
        log_directory=logs,
    )
    yield running
    running.stop()
    processes.stop()


def test_a_function_gets_its_event_context_and_environment(runtime: Runtime) -> None:
    answer = runtime.invoke("EchoFunction", {"text": "é"})
    assert answer["event"] == {"text": "é"}
    assert answer["arn"].endswith(":function:EchoFunction")
    assert 50_000 < answer["remaining"] <= 60_000
    assert answer["environment"]["GREETING"] == "overridden"
    assert answer["environment"]["AWS_CONFIG_FILE"] == os.devnull


def test_an_exception_fails_the_invocation_and_spares_the_worker(runtime: Runtime) -> None:
    before = runtime.invoke("EchoFunction", {})["pid"]
    with pytest.raises(InvocationFailedError, match="as you wished") as failed:
        runtime.invoke("EchoFunction", {"fault": "raise"})
    assert failed.value.error_type == "ValueError"
    assert "".join(failed.value.stack_trace).count("toys.py") == 1
    assert runtime.invoke("EchoFunction", {})["pid"] == before


def test_a_worker_that_dies_fails_its_invocation_and_is_replaced(runtime: Runtime) -> None:
    before = runtime.invoke("EchoFunction", {})["pid"]
    with pytest.raises(InvocationFailedError, match="SIGKILL") as failed:
        runtime.invoke("EchoFunction", {"fault": "die"})
    assert failed.value.error_type == "Runtime.ExitError"
    assert runtime.invoke("EchoFunction", {})["pid"] != before


def test_a_function_that_takes_too_long_is_killed_with_what_it_started(runtime: Runtime, logs: Path) -> None:
    with pytest.raises(InvocationFailedError, match=r"Task timed out after 1\.00 seconds") as failed:
        runtime.invoke("SlowFunction", {"seconds": 60, "spawn": True})
    assert (failed.value.error_type, runtime.pids("SlowFunction")) == ("Sandbox.Timedout", [])
    pid = int((logs / "SlowFunction.log").read_text().partition("spawned ")[2].split()[0])
    # It has been killed; the kernel may take its time.
    wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE, "its end")


def test_a_handler_that_cannot_be_imported_says_why(runtime: Runtime) -> None:
    with pytest.raises(FunctionStartError, match="No module named 'missing'; 3 starts failed") as failed:
        runtime.invoke("BrokenFunction", {})
    assert failed.value.error_type == "Runtime.ImportModuleError"
    assert type(InvocationFailedError.parse(str(failed.value))) is FunctionStartError
    assert failed.value.log.read_text(encoding="utf-8").count("Unable to import module") == STARTS


def test_a_function_has_as_many_workers_as_are_needed_and_allowed(runtime: Runtime) -> None:
    with ThreadPoolExecutor(6) as callers:
        pids = {answer["pid"] for answer in callers.map(lambda n: runtime.invoke("EchoFunction", {}), range(12))}
    assert 1 <= len(pids) <= 2
    assert len(runtime.pids("EchoFunction")) <= 2


def test_a_minimal_stack_runs_durable_functions_on_demand(
    stack: LocalStack, tmp_path: Path, toy_template: Path
) -> None:
    options = StackOptions(
        template=toy_template, database_url=stack.database_url, poll_events=False, minimal=True, workers=1
    )
    with LocalStack(tmp_path, options) as minimal:
        assert minimal.get_execution_statuses("SagaFunction") == {}
        answer = minimal.lambda_client.invoke(
            FunctionName="SagaFunction:live", DurableExecutionName="first", Payload=json.dumps({"saga": "first"})
        )
        assert json.loads(answer["Payload"].read())["attempts"] == 1
        assert minimal.get_execution_statuses("SagaFunction") == {"first": "SUCCEEDED"}
        with pytest.raises(LocalError, match="its template has no routes"):
            assert minimal.api_url
