"""What the command stands on runs without AWS, a database, the rest of this repository, and on Windows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from local.stack.options import REPOSITORY
from tests.support.sign_in.played_api import PlayedApi

BLOCKED = [
    *("boto3", "botocore", "sqlalchemy", "moto", "local", "shell", "core", "samples", "flask", "pymysql"),
    *("fcntl", "pwd", "grp", "resource", "termios", "tty"),
]
PACKAGES = ("client", "stacks", "sign_in", "session", "catalog")
_BLOCK = """
import json, sys
for name in json.loads(sys.argv[1]):
    sys.modules[name] = None
"""
_IMPORT = (
    _BLOCK
    + """
import importlib
for module in sys.argv[2:]:
    importlib.import_module(module)
print(json.dumps(sorted(sys.modules)))
"""
)
_WHOAMI = (
    _BLOCK
    + """
from argparse import Namespace
from exhibit_ingest.session.commands import run
from exhibit_ingest.session.session import Context
sys.exit(run(Namespace(command=sys.argv[2], stack=None, json=True, default=None, remove=None), Context()))
"""
)


def list_modules() -> list[str]:
    folders = [REPOSITORY / "exhibit_ingest" / package for package in PACKAGES]
    files = [file for folder in folders for file in sorted(folder.rglob("*.py"))]
    return [".".join(file.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__") for file in files]


def run_python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", *arguments]
    # Without the environment of the tests: the machine's proxies and tokens are not part of the case.
    variables = {"PATH": "/usr/bin:/bin", **environment}
    return subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, env=variables, check=False)


def test_the_foundation_of_the_command_imports_nothing_of_a_server_or_of_one_system() -> None:
    modules = list_modules()
    assert len(modules) > 15
    done = run_python(_IMPORT, json.dumps(BLOCKED), *modules)
    assert done.returncode == 0, done.stderr
    assert {*modules} <= {*json.loads(done.stdout)}
    assert "keyring" not in json.loads(done.stdout)


@pytest.mark.parametrize("name", ["local.errors", "fcntl"])
def test_a_blocked_module_would_be_found(name: str) -> None:
    done = run_python(_IMPORT, json.dumps(BLOCKED), name)
    assert "ModuleNotFoundError" in done.stderr


def test_the_command_of_a_user_runs_without_them_and_lists_stacks_without_the_client(tmp_path: Path) -> None:
    blocked = json.dumps(BLOCKED)
    folder = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    with PlayedApi(None, lambda given: given == "t").run() as api:
        chosen = {"EXHIBIT_INGEST_STACK": api.url, "EXHIBIT_INGEST_TOKEN": "t"}
        done = run_python(_WHOAMI, blocked, "whoami", **chosen, **folder)
    assert json.loads(done.stdout)["me"]["tenantId"] == "firm"
    done = run_python(_WHOAMI, json.dumps([*BLOCKED, "httpx", "keyring", "webbrowser"]), "stacks", **folder)
    assert json.loads(done.stdout) == {"default": None, "stacks": []}
