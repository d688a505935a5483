"""A forked worker is, to its function, a process that was started for it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from local.lambda_runtime.forking import FORK_LOG, ForkServer
from local.lambda_runtime.worker_pool import Runtime
from local.services.processes import Processes
from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template
from local.time_scale import TimeScale

pytestmark = [pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks workers"), pytest.mark.slow]

_OF_ONE_WORKER = {"AWS_LAMBDA_RUNTIME_API", "_X_AMZN_TRACE_ID", "LC_CTYPE", "PYTEST_CURRENT_TEST"}


class NeverForks(ForkServer):
    """Has every worker started as a process of its own."""

    def can_start(self, environment: Mapping[str, str]) -> bool:
        return False


@contextmanager
def running(template_path: Path, logs: Path, forks: type[ForkServer] = ForkServer) -> Iterator[Runtime]:
    template, processes = Template.load(template_path), Processes()
    runtime = Runtime(
        template,
        environment=lambda function: {"AWS_DEFAULT_REGION": "us-east-1", "ONLY": function, f"OF_{function}": "set"},
        workers=1,
        time_scale=TimeScale(),
        processes=processes,
        log_directory=logs,
        forks=forks(processes, logs / FORK_LOG),
    )
    try:
        yield runtime
    finally:
        runtime.stop()
        processes.stop()


@pytest.fixture
def runtime(toy_template: Path, tmp_path: Path) -> Iterator[Runtime]:
    with running(toy_template, tmp_path) as made:
        yield made


def server_of(answer: dict[str, Any]) -> psutil.Process:
    """The process that forked the worker."""
    parent = psutil.Process(answer["pid"]).parent()
    assert parent is not None
    assert any("fork_server.py" in word for word in parent.cmdline())
    return parent


def place(answer: dict[str, Any]) -> dict[str, Any]:
    """What a function sees of its process, without what differs from one worker to the next."""
    environment = {name: value for name, value in answer["environment"].items() if name not in _OF_ONE_WORKER}
    return {**answer["process"], "environment": environment}


def test_a_function_sees_the_same_process_forked_or_not(toy_template: Path, runtime: Runtime, tmp_path: Path) -> None:
    forked = runtime.invoke("EchoFunction", {})
    (tmp_path / "cold").mkdir()
    with running(toy_template, tmp_path / "cold", NeverForks) as cold:
        started = cold.invoke("EchoFunction", {})
        assert psutil.Process(started["pid"]).ppid() == os.getpid()
    server_of(forked)
    assert place(forked) == place(started)


def test_variables_of_a_worker_reach_neither_another_function_nor_the_next_worker(runtime: Runtime) -> None:
    first = runtime.invoke("EchoFunction", {"fault": "leave"})
    assert first["environment"].items() >= {"LEFT": "behind", "OF_EchoFunction": "set"}.items()
    other = runtime.invoke("OtherEchoFunction", {})
    assert server_of(other) == server_of(first)
    assert other["environment"]["ONLY"] == "OtherEchoFunction"
    assert {"LEFT", "OF_EchoFunction"}.isdisjoint(other["environment"])
    os.kill(first["pid"], signal.SIGKILL)
    wait_until_gone(runtime, "EchoFunction")
    second = runtime.invoke("EchoFunction", {})
    assert second["pid"] != first["pid"]
    assert "LEFT" not in second["environment"]


def wait_until_gone(runtime: Runtime, function: str) -> None:
    """Wait until the end of its worker was reported."""
    while runtime.pids(function):
        time.sleep(0.01)


def test_the_fork_server_has_one_thread_and_its_workers_hold_none_of_its_pipes(runtime: Runtime) -> None:
    answer = runtime.invoke("EchoFunction", {})
    assert server_of(answer).num_threads() == 1
    descriptors = Path(f"/proc/{answer['pid']}/fd")
    assert [each.name for each in descriptors.iterdir() if os.readlink(each).startswith("pipe:")] == []


def test_a_killed_fork_server_takes_its_workers_along_and_is_replaced(runtime: Runtime) -> None:
    before = runtime.invoke("EchoFunction", {})
    worker, server = psutil.Process(before["pid"]), server_of(before)
    server.kill()
    _, alive = psutil.wait_procs([worker], timeout=20)
    assert alive == []
    wait_until_gone(runtime, "EchoFunction")
    after = runtime.invoke("EchoFunction", {})
    assert server_of(after) != server


# What a function sees of the modules that were imported before its process was forked.
_PROBE = """
import json, os
from shell.aws import clients
from shell.observability import logger
seen = {"service": logger.service, "key": clients.s3()._request_signer._credentials.access_key}
seen |= {name: getattr(clients, name)().meta.endpoint_url for name in ("s3", "sqs", "sns")}
with open(os.environ["PROBE"] + ".part", "w") as file:
    json.dump(seen, file)
os.rename(file.name, os.environ["PROBE"])
"""


def test_what_was_imported_before_the_fork_has_the_settings_of_each_worker(tmp_path: Path) -> None:
    template, processes = Template.load(DEFAULT_TEMPLATE), Processes()
    probe = tmp_path / "probe.py"
    probe.write_text(_PROBE)
    forks = ForkServer(processes, tmp_path / FORK_LOG)
    forks.configure(template)
    try:
        for number in (1, 2):
            endpoint, key = f"http://127.0.0.1:{number}", f"key-{number}"
            variables = template.environment("StartImportFunction", endpoint) | {
                "AWS_ENDPOINT_URL": endpoint,
                "AWS_ACCESS_KEY_ID": key,
                "AWS_SECRET_ACCESS_KEY": "secret",
                "AWS_DEFAULT_REGION": "us-east-1",
                "PROBE": str(tmp_path / key),
            }
            # cProfile runs a file, as a program; what it prints goes to the log.
            assert forks.start("cProfile", str(probe), variables, tmp_path, tmp_path / "log").wait() == 0
            seen = json.loads((tmp_path / key).read_text())
            assert seen == {"service": variables["POWERTOOLS_SERVICE_NAME"], "key": key} | dict.fromkeys(
                ("s3", "sqs", "sns"), endpoint
            )
    finally:
        forks.stop()
        processes.stop()
