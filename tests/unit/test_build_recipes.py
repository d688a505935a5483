"""The recipes that `sam build` calls: each function gets its own handler, and the same sources give the same bytes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from local.stack.options import DEFAULT_TEMPLATE
from local.template.intrinsics import load_document
from local.template.reader import Template
from tests.support.aws.reachable_calls import Sources
from tests.support.volumes.folder_contents import tree_of
from tools.compiled import compiled_path, find_fault
from tools.runtime_python import get_runtime_version

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
RECIPES = {
    name: (ROOT / name / "Makefile").read_text("utf-8") for name in ("layers/dependencies", "shared", "functions")
}
LAYER = RECIPES["layers/dependencies"]
SERVICES = set(re.findall(r"^SERVICES := (.*)$", LAYER, re.MULTILINE)[0].split())
FUNCTIONS = {name: each.handler.partition(".")[0] for name, each in Template.load(DEFAULT_TEMPLATE).functions.items()}
OWN = "{}.{}".format(*sys.version_info)
NO_GROUP = {"RUNTIME_PYTHON": ""}
THIS = {"RUNTIME_PYTHON": sys.executable, "LAYER_PYTHON": OWN}


def make(
    folder: Path, target: str, artifacts: Path, compiler: Mapping[str, str] = NO_GROUP
) -> subprocess.CompletedProcess[str]:
    """Run a recipe as SAM does."""
    environment = {**os.environ, "ARTIFACTS_DIR": str(artifacts), "MAKEFLAGS": "", **compiler}
    command = ["make", "--no-print-directory", "-C", str(folder), f"build-{target}"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def built(folder: Path, target: str, artifacts: Path, compiler: Mapping[str, str] = NO_GROUP) -> Path:
    done = make(folder, target, artifacts, compiler)
    assert done.returncode == 0, done.stderr
    return artifacts


def test_a_function_gets_its_own_handler_and_nothing_else(tmp_path: Path) -> None:
    for function, handler in FUNCTIONS.items():
        artifacts = built(ROOT / "functions", function, tmp_path / f"for {function}")
        page = {path.relative_to(artifacts).parts[0] for path in artifacts.rglob("*")} - {f"{handler}.py"}
        assert page == ({"console_files"} if handler == "console" else set())
        assert (artifacts / f"{handler}.py").read_bytes() == (ROOT / "functions" / f"{handler}.py").read_bytes()


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


@pytest.mark.parametrize("compiler", [NO_GROUP, {"RUNTIME_PYTHON": sys.executable, "LAYER_PYTHON": "3.9"}])
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


def test_the_layer_is_for_the_templates_runtime_and_processor() -> None:
    shared = load_document(DEFAULT_TEMPLATE)["Globals"]["Function"]
    assert all(f"LAYER_PYTHON ?= {get_runtime_version(DEFAULT_TEMPLATE)}\n" in recipe for recipe in RECIPES.values())
    assert shared["Architectures"] == ["arm64"]
    assert "LAYER_PLATFORM ?= aarch64-manylinux_2_28\n" in LAYER


def test_the_layer_describes_every_service_that_is_used_and_no_other() -> None:
    assert {call.partition(".")[0] for call in Sources(ROOT / "shared").every_call()} == SERVICES


def test_make_gets_a_database_server_before_it_installs_packages() -> None:
    command, environment = ["make", "-nB", "-C", str(ROOT), "demo"], {**os.environ, "MAKEFLAGS": ""}
    plan = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert 0 < plan.index("local.services.mysql_binaries") < plan.index("pip install")


def run_make(*arguments: str, **variables: str) -> str:
    """What make prints, without the settings of this machine for certificates."""
    settings = ("PIP_", "UV_", "SSL_CERT", "REQUESTS_CA", "CURL_CA", "MAKE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(settings)}
    command = ["make", "--no-print-directory", "-C", str(ROOT), *arguments]
    return subprocess.run(command, env=kept | variables, capture_output=True, text=True, check=True).stdout


SHOW = '--eval=show: ; @$(TRUST); echo "$$UV_SYSTEM_CERTS $$PIP_CERT"'


def test_the_machines_certificates_are_those_of_pip_and_uv(tmp_path: Path) -> None:
    """So that packages are installed behind a proxy whose certificates the machine trusts."""
    store, mine = tmp_path / "store.pem", tmp_path / "mine.pem"
    store.touch()
    no_settings = {"PIP_CONFIG_FILE": os.devnull, "SSL_CERT_FILE": str(store)}
    assert run_make(SHOW, "show", **no_settings) == f"true {store}\n"
    assert run_make(SHOW, "show", **no_settings, PIP_CERT=str(mine), UV_SYSTEM_CERTS="false") == f"false {mine}\n"
    assert run_make(SHOW, "show", **no_settings, REQUESTS_CA_BUNDLE=str(mine)) == "true \n"
    assert "PIP_CERT" in (plan := run_make("-nB", "setup"))
    assert plan.index("PIP_CERT") < plan.index("-m pip install")


def test_the_pinned_uv_has_the_variable() -> None:
    ended = subprocess.run(
        [ROOT / ".venv/bin/uv", "pip", "install", "--help"], capture_output=True, text=True, check=True
    )
    assert "UV_SYSTEM_CERTS" in ended.stdout
