"""What a command imports before it does anything: `--help` and wrong usage do not wait for AWS or a database."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from local.lambda_runtime.forking import PRELOADED
from local.stack.options import REPOSITORY

_HEAVY = {"alembic", "boto3", "botocore", "flask", "jwt", "moto", "psutil", "pymysql", "redis", "rich", "sqlalchemy"}
_RUN = """
import json, sys
from exhibit_ingest.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
sys.stderr.write(json.dumps(sorted(name for name in sys.modules if "." not in name)))
"""

_RECORD = """
import json, os, sys
names = set()
class Recorder(type(os.environ)):
    def __getitem__(self, name):
        names.add(name)
        return super().__getitem__(name)
os.environ.__class__ = Recorder
for module in sys.argv[1:]:
    __import__(module)
    assert sys.modules[module]
import threading
print(json.dumps([sorted(names), threading.active_count()]))
"""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["import", "--help"], ["serve", "--help"], ["documents", "--help"], ["import"], []]
)
def test_help_and_wrong_usage_import_nothing_heavy(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *arguments], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    imported = set(json.loads(done.stderr[done.stderr.rindex("[") :]))
    assert "argparse" in imported
    assert imported & _HEAVY == set()


def test_what_is_imported_before_a_fork_reads_no_variable_of_a_function_and_starts_no_thread() -> None:
    done = subprocess.run([sys.executable, "-c", _RECORD, *PRELOADED], capture_output=True, text=True, check=True)
    names, threads = json.loads(done.stdout)
    of_the_process = {name for name in names if name in ("HOME", "LOGNAME", "USER", "LNAME", "USERNAME", "PATH")}
    assert {name for name in names if not name.lstrip("_").startswith("PYTHON")} == of_the_process
    assert threads == 1


def test_the_recorder_sees_a_variable_that_is_read(tmp_path: os.PathLike[str]) -> None:
    with open(os.path.join(tmp_path, "reader.py"), "w", encoding="utf-8") as module:
        module.write("import os\nos.environ.get('GREETING')\nos.getenv('SERVICE')\n")
    done = subprocess.run(
        [sys.executable, "-c", _RECORD, "reader"], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert {"GREETING", "SERVICE"} <= set(json.loads(done.stdout)[0])
