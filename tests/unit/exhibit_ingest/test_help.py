"""What a command imports before it does anything: `--help` and wrong usage do not wait for AWS or a database."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from local.stack.options import REPOSITORY
from tools import command_document

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


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="argparse of Python 3.13 writes options in another form")
def test_the_reference_of_the_command_is_its_help() -> None:
    assert command_document.main(["--check"]) == 0, "run: python -m tools.command_document"
