"""Complete one import in a new process: the seconds of the handler, and its peak memory above the imported modules.

`python -m benchmarks.imports.complete_once IMPORT_ID` prints a JSON object. Imports and settings are those of the
environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import complete_import
from benchmarks.errors import BenchmarkError
from benchmarks.imports.invocation import time_handler
from benchmarks.imports.peak import peak_bytes
from shell.work.messages import CompletionMessage

_ROOT = Path(__file__).resolve().parents[2]


def complete_once(environment: Mapping[str, str], import_id: int) -> dict[str, Any]:
    """Complete the import in a new process and return `seconds` and `peak_mb`."""
    command = [sys.executable, "-m", "benchmarks.imports.complete_once", str(import_id)]
    done = subprocess.run(  # noqa: S603 - our own module and a number
        command, cwd=_ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"the completion failed: {(done.stderr.strip() or done.stdout)[-500:]}")
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _measure(import_id: int) -> dict[str, float]:
    before = peak_bytes()
    seconds = time_handler(complete_import.lambda_handler, CompletionMessage(import_id, 1).as_dict())
    return {"seconds": round(seconds, 2), "peak_mb": round((peak_bytes() - before) / 1e6, 1)}


if __name__ == "__main__":
    print(json.dumps(_measure(int(sys.argv[1]))))
