"""The recipes that `sam build` calls: each function gets its own handler, and the same sources give the same bytes."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from local.stack.options import DEFAULT_TEMPLATE
from local.template.intrinsics import load_document
from local.template.reader import Template
from tests.support.trees import tree_of
from tools.compiled import compiled_path, find_fault
from tools.runtime_python import get_runtime_version

ROOT = Path(__file__).parents[2]
RECIPES = {
    name: (ROOT / name / "Makefile").read_text("utf-8") for name in ("layers/dependencies", "shared", "functions")
}
LAYER = RECIPES["layers/dependencies"]
SERVICES = set(re.findall(r"^SERVICES := (.*)$", LAYER, re.MULTILINE)[0].split())
# What libraries make clients of for us, by what is imported of them.
FOR_US = {
    "aws_lambda_powertools.utilities.parameters.SecretsProvider": "secretsmanager",
    "aws_durable_execution_sdk_python": "lambda",
}
FUNCTIONS = {name: each.handler.partition(".")[0] for name, each in Template.load(DEFAULT_TEMPLATE).functions.items()}
OWN = "{}.{}".format(*sys.version_info)
NOBODY = {"RUNTIME_PYTHON": ""}
THIS = {"RUNTIME_PYTHON": sys.executable, "LAYER_PYTHON": OWN}


def make(
    folder: Path, target: str, artifacts: Path, compiler: Mapping[str, str] = NOBODY
) -> subprocess.CompletedProcess[str]:
    """Run a recipe as SAM does."""
    environment = {**os.environ, "ARTIFACTS_DIR": str(artifacts), "MAKEFLAGS": "", **compiler}
    command = ["make", "--no-print-directory", "-C", str(folder), f"build-{target}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def built(folder: Path, target: str, artifacts: Path, compiler: Mapping[str, str] = NOBODY) -> Path:
    done = make(folder, target, artifacts, compiler)
    assert done.returncode == 0, done.stderr
    return artifacts


@pytest.fixture
def functions(tmp_path: Path) -> Path:
    """The functions' folder, in a folder whose name holds a space."""
    copied = tmp_path / "a clone" / "functions"
    shutil.copytree(ROOT / "functions", copied)
    return copied


def test_a_function_gets_its_own_handler_and_nothing_else(tmp_path: Path) -> None:
    for function, handler in FUNCTIONS.items():
        artifacts = built(ROOT / "functions", function, tmp_path / f"for {function}")
        assert [path.name for path in artifacts.rglob("*")] == [f"{handler}.py"]
        assert (artifacts / f"{handler}.py").read_bytes() == (ROOT / "functions" / f"{handler}.py").read_bytes()


def test_a_handler_that_changes_changes_its_own_function_alone(functions: Path, tmp_path: Path) -> None:
    names = ("ImportChunkFunction", "StartImportFunction")
    before = {name: tree_of(built(functions, name, tmp_path / "before" / name)) for name in names}
    with (functions / "import_chunk.py").open("a", encoding="utf-8") as handler:
        handler.write("# changed\n")
    after = {name: tree_of(built(functions, name, tmp_path / "after" / name)) for name in names}
    assert [name for name in names if before[name] != after[name]] == ["ImportChunkFunction"]


def test_a_function_without_a_handler_says_which_file_is_missing(tmp_path: Path) -> None:
    done = make(ROOT / "functions", "NobodysFunction", tmp_path)
    assert done.returncode != 0
    assert "functions/nobodys.py is missing" in done.stderr


def test_our_code_is_the_same_whatever_lay_about_when_it_was_built(tmp_path: Path) -> None:
    copied = tmp_path / "shared"
    shutil.copytree(ROOT / "shared", copied, ignore=shutil.ignore_patterns("__pycache__"))
    first = tree_of(built(copied, "SharedLayer", tmp_path / "first"))
    (copied / "core" / "__pycache__").mkdir()
    (copied / "core" / "__pycache__" / "errors.cpython-313.pyc").write_bytes(b"compiled")
    (copied / "core" / "errors.py").chmod(0o600)
    os.utime(copied / "core" / "errors.py")
    assert tree_of(built(copied, "SharedLayer", tmp_path / "second")) == first
    assert "python/core/errors.py" in first


@pytest.mark.parametrize(("folder", "target"), [("shared", "SharedLayer"), ("functions", "ImportChunkFunction")])
def test_all_our_code_is_compiled_and_twice_to_the_same_bytes(tmp_path: Path, folder: str, target: str) -> None:
    build = tmp_path / "a build"
    for name in ("one", "the other"):
        built(ROOT / folder, target, build / name, THIS)
    first, second = (tree_of(build / name) for name in ("one", "the other"))
    assert first == second
    sources = list((build / "one").rglob("*.py"))
    files = [compiled_path(source, sys.version_info[:2]) for source in sources]
    assert [find_fault(file, sys.version_info[:2]) for file in files] == [None] * len(sources)
    assert not any(str(tmp_path).encode() in file.read_bytes() for file in files), "a trace shows Lambda's paths"


@pytest.mark.parametrize("compiler", [NOBODY, {"RUNTIME_PYTHON": sys.executable, "LAYER_PYTHON": "3.9"}])
def test_without_a_python_of_the_runtimes_version_nothing_is_compiled(
    tmp_path: Path, compiler: Mapping[str, str]
) -> None:
    artifacts = built(ROOT / "functions", "ImportChunkFunction", tmp_path, compiler)
    assert [path.name for path in artifacts.rglob("*")] == ["import_chunk.py"]


def test_the_same_content_with_another_time_or_mode_is_another_tree(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "file"
    file.parent.mkdir()
    file.write_text("text")
    seen = [tree_of(file.parent)]
    for change in (lambda: os.utime(file, (0, 0)), lambda: file.chmod(0o600), lambda: file.write_text("TEXT")):
        change()
        seen.append(tree_of(file.parent))
    assert len({str(tree) for tree in seen}) == 4


def test_the_layer_without_uv_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("make", "sh"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tools))
    done = make(ROOT / "layers" / "dependencies", "DependenciesLayer", tmp_path / "artifacts")
    assert done.returncode != 0
    assert "make build" in done.stderr


def test_the_layer_is_for_the_templates_runtime_and_processor() -> None:
    shared = load_document(DEFAULT_TEMPLATE)["Globals"]["Function"]
    assert all(f"LAYER_PYTHON ?= {get_runtime_version(DEFAULT_TEMPLATE)}\n" in recipe for recipe in RECIPES.values())
    assert shared["Architectures"] == ["arm64"]
    assert "LAYER_PLATFORM ?= aarch64-manylinux_2_28\n" in LAYER


def clients_in(source: str) -> Iterator[str]:
    """The services that a module makes clients of, by itself or through what it imports."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="client" | "resource"), args=[ast.Constant(value=str(service)), *_]):
                yield service
            case ast.ImportFrom(module="aws_lambda_powertools.utilities.parameters", names=names):
                yield from (FOR_US[f"aws_lambda_powertools.utilities.parameters.{each.name}"] for each in names)
            case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in FOR_US:
                yield FOR_US[module.partition(".")[0]]


def test_the_layer_describes_every_service_that_is_used_and_no_other() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "shared").rglob("*.py")]
    assert {service for source in sources for service in clients_in(source)} == SERVICES


@pytest.mark.parametrize(
    ("source", "service"),
    [
        ("boto3.client('rds', config=c)", "rds"),
        ("boto3.Session().client('sts')", "sts"),
        ("from aws_lambda_powertools.utilities.parameters import SecretsProvider", "secretsmanager"),
        ("from aws_durable_execution_sdk_python.config import Duration", "lambda"),
    ],
)
def test_a_client_is_found(source: str, service: str) -> None:
    assert list(clients_in(source)) == [service]
