"""Functions run under AWS's emulator from built folders alone, and report failures as Lambda does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

import core.errors
from local.lambda_runtime.build_artifact import Artifact
from local.lambda_runtime.invocation import InvocationFailedError
from local.lambda_runtime.worker_pool import Runtime
from local.services.processes import Processes
from local.stack.options import REPOSITORY
from local.template.reader import Template
from local.time_scale import TimeScale
from tests.artifact.probed_artifact import probed
from tests.support.volumes.folder_contents import tree_of


@contextmanager
def running(built: Artifact) -> Iterator[Runtime]:
    """The functions of an artifact."""
    processes = Processes()
    runtime = Runtime(
        Template.load(built.template),
        environment=lambda _: {"GREETING": "hello", "AWS_REGION": "us-east-1"},
        workers=2,
        time_scale=TimeScale(),
        processes=processes,
        log_directory=built.folder,
        artifact=built,
    )
    try:
        yield runtime
    finally:
        runtime.stop()
        processes.stop()


@pytest.fixture(scope="module")
def probe(artifact: Artifact, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A probe in a folder whose name holds a space."""
    with running(probed(artifact, tmp_path_factory.mktemp("a folder"))) as runtime:
        yield runtime


def ask(runtime: Runtime, **event: Any) -> Any:
    return runtime.invoke("ProbeFunction", event)


def of_the_sources(places: list[str]) -> list[Path]:
    """Those of the places that lie in this repository, and not in what was built there."""
    found = [Path(each).resolve() for each in places]
    return [each for each in found if each.is_relative_to(REPOSITORY) and ".aws-sam" not in each.parts]


def test_nothing_of_this_repository_is_loaded_but_what_was_built(probe: Runtime, artifact: Artifact) -> None:
    answer = ask(probe)
    build = artifact.template.parent.resolve()
    ours, settings, packages = (Path(file).resolve() for file in answer["files"])
    assert ours == build / "SharedLayer/python/core/errors.py"
    assert settings.is_relative_to(build / "SharedLayer")
    assert packages.is_relative_to(build / "DependenciesLayer")
    assert of_the_sources([*answer["files"], *answer["path"]]) == []


def test_a_module_of_the_sources_would_be_noticed() -> None:
    assert of_the_sources([str(core.errors.__file__)]) == [REPOSITORY / "shared/core/errors.py"]


def test_a_function_finds_the_variables_that_lambda_sets(probe: Runtime) -> None:
    answer = ask(probe)
    found = answer["environment"]
    assert Path(found["LAMBDA_TASK_ROOT"]).name == "ProbeFunction"
    assert (found["AWS_LAMBDA_FUNCTION_NAME"], found["GREETING"]) == ("ProbeFunction", "hello")
    assert found["AWS_EXECUTION_ENV"] == "AWS_Lambda_python3.13"
    assert found["AWS_LAMBDA_RUNTIME_API"].startswith("127.0.0.1:")
    assert 0 < answer["left"] <= 30_000


def test_nothing_is_written_into_the_build(probe: Runtime, artifact: Artifact) -> None:
    build = artifact.template.parent
    before = tree_of(build)
    ask(probe)
    assert tree_of(build) == before


def test_an_exception_is_reported_with_its_type_and_the_worker_lives_on(probe: Runtime) -> None:
    before = ask(probe)["pids"]
    with pytest.raises(InvocationFailedError, match="as you wished") as failed:
        ask(probe, fail="as you wished")
    assert failed.value.error_type == "ValueError"
    assert "probe.py" in "".join(failed.value.stack_trace)
    assert ask(probe)["pids"] == before


def test_an_answer_that_speaks_of_an_error_is_an_answer(probe: Runtime) -> None:
    said = {"errorType": "None", "errorMessage": "all is well"}
    assert ask(probe, answer=said) == said
    assert ask(probe, answer="Task timed out after lunch") == "Task timed out after lunch"
    assert ask(probe, answer=None) is None


def test_a_process_that_ends_is_a_failure_and_another_takes_its_place(probe: Runtime) -> None:
    with pytest.raises(InvocationFailedError) as failed:
        ask(probe, exit=3)
    assert failed.value.error_type == "Runtime.ExitError"
    assert ask(probe)["environment"]["GREETING"] == "hello"


@pytest.mark.slow
def test_a_function_that_takes_too_long_is_stopped_with_all_it_started(artifact: Artifact, tmp_path: Path) -> None:
    pids = "import os, time\ndef lambda_handler(event, context):\n    time.sleep(event['s'])\n    "
    with running(probed(artifact, tmp_path, pids + "return [os.getpid(), os.getppid()]", timeout=10)) as runtime:
        before = ask(runtime, s=0)
        with pytest.raises(InvocationFailedError, match=r"timed out after 10\.00 seconds") as failed:
            ask(runtime, s=600)
        assert failed.value.error_type == "Sandbox.Timedout"
        assert [pid for pid in before if psutil.pid_exists(pid)] == []
        assert ask(runtime, s=0) != before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children of a parent that was killed")
def test_a_runtime_ends_with_its_emulator(probe: Runtime) -> None:
    runtime, emulator = map(psutil.Process, ask(probe)["pids"])
    assert emulator.name() == "aws-lambda-rie"
    emulator.kill()
    _, alive = psutil.wait_procs([runtime], timeout=300)
    assert alive == []


def test_a_module_that_cannot_be_imported_is_a_failure_that_says_so(artifact: Artifact, tmp_path: Path) -> None:
    with (
        running(probed(artifact, tmp_path, "import nowhere")) as runtime,
        pytest.raises(InvocationFailedError, match="nowhere"),
    ):
        ask(runtime)
