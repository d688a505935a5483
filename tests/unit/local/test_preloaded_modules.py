"""What the fork server imports is, to each worker that it forks, as if the worker had imported it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from local.lambda_runtime.forking import PRELOADED, READ_ON_IMPORT, ForkServer
from local.lambda_runtime.worker_pool import function_variables
from local.services.processes import Processes, build_child_environment
from local.stack.options import DEFAULT_TEMPLATE
from local.template.reader import Template

TEMPLATE = Template.load(DEFAULT_TEMPLATE)
# Imports the modules with an environment that notes which variables are read.
_WATCHED = """
import importlib, json, os, sys
read, get = set(), os._Environ.__getitem__
def note(self, name):
    read.add(name)
    return get(self, name)
os._Environ.__getitem__ = note
for module in sys.argv[1:]:
    importlib.import_module(module)
import threading
assert threading.active_count() == 1, "a fork copies no thread"
print(json.dumps(sorted(read)))
"""


def variables_of_workers() -> set[str]:
    """The names of all variables that a worker has and the fork server has not, or may have with another value."""
    names = {name for function in TEMPLATE.functions for name in TEMPLATE.environment(function, "http://127.0.0.1:1")}
    names |= {name for function in TEMPLATE.functions.values() for name in function_variables(function)}
    return names | {"DATABASE_URL", "REDIS_URL", "AWS_ENDPOINT_URL", "AWS_LAMBDA_RUNTIME_API", "CONSOLE_SIGN_IN"}


def read_before_the_fork(*modules: str, folder: str = "") -> list[str]:
    """The variables of workers that importing modules reads, without those that the fork server has."""
    paths = {"PYTHONPATH": os.pathsep.join([*(str(root) for root in TEMPLATE.import_roots), folder])}
    command = [sys.executable, "-c", _WATCHED, *modules]
    done = subprocess.run(command, env=build_child_environment() | paths, capture_output=True, text=True, check=True)
    read = variables_of_workers().intersection(json.loads(done.stdout.splitlines()[-1]))
    return sorted(name for name in read if not name.startswith(READ_ON_IMPORT))


def test_no_module_reads_a_variable_of_its_worker_before_the_fork(tmp_path: Path) -> None:
    assert read_before_the_fork(*PRELOADED) == []
    code = 'import os\nos.environ.get("DATABASE_URL"), os.getenv("AWS_LAMBDA_FUNCTION_NAME"), os.getenv("HOME")\n'
    (tmp_path / "reads_at_once.py").write_text(code, encoding="utf-8")
    seen = ["AWS_LAMBDA_FUNCTION_NAME", "DATABASE_URL"]
    assert read_before_the_fork("reads_at_once", folder=str(tmp_path)) == seen


@pytest.mark.parametrize("name", ["POWERTOOLS_SERVICE_NAME", "POWERTOOLS_LOG_LEVEL", "PYTHONHASHSEED"])
def test_a_worker_with_another_value_of_what_was_read_is_not_forked(name: str, tmp_path: Path) -> None:
    shared = TEMPLATE.environment("StartImportFunction", "")
    forks = ForkServer(Processes(), tmp_path / "log")
    forks.configure(TEMPLATE)
    roots = {"PYTHONPATH": os.pathsep.join(str(root) for root in TEMPLATE.import_roots)}
    worker = build_child_environment() | shared | roots
    assert forks.can_start({**worker, "IMPORT_BUCKET": "another"}) == (sys.platform == "linux")
    assert not forks.can_start({**worker, name: "another"})
