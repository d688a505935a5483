"""Which Python runs what `make lambda` builds: one of the template's version that works, else this one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from local.errors import TemplateError
from local.stack.options import DEFAULT_TEMPLATE
from tools.runtime_python import find_python, get_runtime_version, main

OWN = "{}.{}".format(*sys.version_info)


def executable(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has no Python but those which the test puts there."""
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "shims"), str(tmp_path / "bin")]))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    return tmp_path


def test_a_shim_that_fails_is_passed_over(alone: Path) -> None:
    executable(alone / "shims/python9.9", "exit 127")
    working = executable(alone / "bin/python9.9", "echo 9.9")
    assert find_python("9.9").path == working


def test_pyenvs_versions_are_looked_at(alone: Path) -> None:
    executable(alone / "pyenv/versions/9.9.1/bin/python9.9", "exit 1")
    working = executable(alone / "pyenv/versions/9.9.0/bin/python9.9", "echo 9.9")
    assert find_python("9.9").path == working


def test_one_that_is_not_what_its_name_says_is_passed_over(alone: Path) -> None:
    executable(alone / "bin/python9.9", "echo 9.8")
    assert find_python("9.9").path != alone / "bin/python9.9"


def test_without_one_this_python_stands_in_and_says_its_own_version(alone: Path) -> None:
    found = find_python("9.9")
    assert (found.path, found.version) == (Path(sys.executable), OWN)


@pytest.mark.parametrize("there", [True, False])
def test_who_compiles_for_lambda_is_printed_where_there_is_one(
    alone: Path, there: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    template = alone / "template.yaml"
    template.write_text("Globals: {Function: {Runtime: python9.9}}")
    working = executable(alone / "bin/python9.9", f"echo {'9.9' if there else '9.8'}")
    assert main(template) == 0
    assert capsys.readouterr().out == (f"{working}\n" if there else "")


def test_the_template_says_which_version_it_is(tmp_path: Path) -> None:
    assert get_runtime_version(DEFAULT_TEMPLATE) == "3.13"
    other = tmp_path / "template.yaml"
    other.write_text("Globals: {Function: {Runtime: nodejs22.x}}")
    with pytest.raises(TemplateError, match="nodejs22"):
        get_runtime_version(other)
