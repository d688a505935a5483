"""A command imports what takes long only where it needs it, and not before the servers are launched."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

_WORK = (
    *("exhibit_ingest.client.api", "exhibit_ingest.importing.file_imports"),
    *("local.command.machine", "local.stack.function_host", "local.gateway.server"),
)


@pytest.mark.parametrize(
    ("modules", "needed", "needless"),
    [
        (("exhibit_ingest.cli.main",), "argparse", {"httpx", "rich", "yaml", "local.stack"}),
        (("local.command.workspace",), "local.stack", {"yaml", "http.server", "pymysql", "httpx", "botocore"}),
        (_WORK, "httpx", {"botocore", "boto3", "click", "sqlalchemy"}),
    ],
    ids=["help", "launch", "import"],
)
def test_modules_that_take_long_are_not_imported_early(
    modules: tuple[str, ...], needed: str, needless: set[str]
) -> None:
    code = "import importlib, json, sys\nfor name in sys.argv[1:]: importlib.import_module(name)\n"
    code += "print(json.dumps([*(name for name, found in sys.modules.items() if found)]))"
    done = subprocess.run([sys.executable, "-c", code, *modules], capture_output=True, text=True, check=True)
    imported = set(json.loads(done.stdout))
    assert needed in imported
    assert needless & imported == set()
