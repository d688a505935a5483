"""The peak memory of importing chunks in full batches, above that of the imported modules, in a new process.

Guaranteed: the kernel's value (VmHWM) over all chunks, including everything that the first chunk loads and keeps.
Available on Linux only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import import_chunk
from benchmarks.errors import BenchmarkError
from benchmarks.imports.invocation import batched, time_handler
from benchmarks.imports.peak import peak_bytes

_ROOT = Path(__file__).resolve().parents[2]
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


def peak_mb(environment: Mapping[str, str], import_id: int, chunks: Sequence[int]) -> float | None:
    """Import the chunks and return the peak memory in megabytes; None where the kernel does not report it."""
    if not _STATUS.exists():
        return None
    command = [sys.executable, "-m", "benchmarks.imports.memory", str(import_id), *map(str, chunks)]
    done = subprocess.run(  # noqa: S603 - our own module and numbers
        command, cwd=_ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"a chunk failed in the memory measurement: {(done.stderr.strip() or done.stdout)[-500:]}")
    return round(float(done.stdout.split()[-1]), 1)


def _measure(import_id: int, chunks: Sequence[int]) -> float:
    _CLEAR.write_text(_RESET_PEAK)
    before = peak_bytes()
    for batch in batched(chunks):
        time_handler(import_chunk.lambda_handler, *({"import_id": import_id, "chunk_no": each} for each in batch))
    return (peak_bytes() - before) / 1e6


if __name__ == "__main__":
    print(_measure(int(sys.argv[1]), [int(each) for each in sys.argv[2:]]))
