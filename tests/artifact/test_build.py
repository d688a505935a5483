"""What `sam build` makes: the same bytes in every build, and every service's client from the layer alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.lambda_runtime.build_artifact import BUILD, Artifact
from local.stack.options import DEFAULT_TEMPLATE
from local.template.model import Function
from local.template.reader import Template
from tests.artifact.probed_artifact import PROBE, probed
from tests.support.volumes.folder_contents import tree_of
from tests.unit.test_build_recipes import SERVICES
from tools import build_here, check_artifact
from tools.runtime_python import Python, find_python

# Where there is no python3.13, nothing is compiled.
LAMBDA = Python(find_python("3.13").path, "3.13")
# Runs once a deployment: what only migrations need is not compiled.
ONCE = {"MigrateDatabaseFunction"}
FUNCTIONS = [each for each in Template.load(DEFAULT_TEMPLATE).functions.values() if each.name not in ONCE]
CLIENT = """
import sys
sys.path.insert(0, sys.argv[1])
import boto3
boto3.client(sys.argv[2], region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
"""


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    """Sets what is forbidden to others in new files, for the length of the test."""
    before = os.umask(0o022)
    os.umask(before)
    yield os.umask
    os.umask(before)


@pytest.mark.slow
def test_two_builds_for_lambda_are_the_same(
    tmp_path: Path, umask: Callable[[int], int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = tmp_path / "one", tmp_path / "the other"
    for folder, mask, zone in zip(folders, (0o022, 0o077), ("UTC", "Pacific/Auckland"), strict=True):
        umask(mask)
        monkeypatch.setenv("TZ", zone)
        build_here.build(folder, LAMBDA, "aarch64")
    first, second = (tree_of(folder / BUILD) for folder in folders)
    # SAM writes its template when it is done; only its content is uploaded.
    assert first.pop("template.yaml")[2] == second.pop("template.yaml")[2]
    assert first == second
    assert len(first) > 1_000
    assert check_artifact.main([str(folders[0] / BUILD)]) == 0, capsys.readouterr().out


def client(artifact: Artifact, service: str) -> subprocess.CompletedProcess[str]:
    """Make a client in an interpreter that has the layer of the packages and nothing else."""
    packages = artifact.template.parent / "DependenciesLayer" / "python"
    command = [str(artifact.interpreter), "-I", "-S", "-B", "-c", CLIENT]
    return subprocess.run([*command, str(packages), service], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_the_layer_alone_makes_a_client_of(artifact: Artifact, service: str) -> None:
    done = client(artifact, service)
    assert done.returncode == 0, done.stderr


def test_a_service_that_is_not_declared_has_no_client(artifact: Artifact) -> None:
    assert "UnknownServiceError" in client(artifact, "ec2").stderr


# A file of this repository, which no function must be able to load.
STRANGER = f"""
import importlib.util, sys
found = importlib.util.spec_from_file_location("stranger", {__file__!r})
sys.modules["stranger"] = importlib.util.module_from_spec(found)
"""
BROKEN = {
    "a module that is not there": "import nowhere",
    "no handler": "lambda_handler = None",
    "a module from elsewhere": f"{STRANGER}; import sys; sys.modules['stranger'] = m\n{PROBE}".replace(
        "{}", repr(__file__)
    ),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_handler_that_lambda_could_not_import_fails_the_build(
    artifact: Artifact, tmp_path: Path, fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_here.import_handlers(probed(artifact, tmp_path, BROKEN[fault])) == 1
    assert "import probe.lambda_handler: failed" in capsys.readouterr().out


def test_a_handler_that_finds_all_in_the_built_folders_is_imported(artifact: Artifact, tmp_path: Path) -> None:
    assert build_here.import_handlers(probed(artifact, tmp_path)) == 0


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.name)
def test_a_cold_start_compiles_nothing(artifact: Artifact, function: Function) -> None:
    assert build_here.measure_import(artifact, function).uncompiled == []


def test_what_a_cold_start_would_compile_is_named(artifact: Artifact, tmp_path: Path) -> None:
    probe = probed(artifact, tmp_path, f"import sqlalchemy.dialects.sqlite.json\n{PROBE}")
    (function,) = Template.load(probe.template).functions.values()
    found = build_here.measure_import(probe, function)
    assert {"probe", "sqlalchemy.dialects.sqlite.json"} <= set(found.uncompiled)
    assert f"{len(found.uncompiled)} of them not compiled (probe, sqlalchemy)" in str(found)
