"""The most memory that importing chunks takes: in a process that does nothing else, above what its imports take.

Guaranteed: the kernel's own figure (VmHWM) over all chunks, with everything that the first of them loads and keeps.
It is there on Linux alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import import_chunk
from benchmarks.errors import BenchmarkError
from benchmarks.imports.invoking import seconds_of
from benchmarks.imports.peak import peak_bytes

_ROOT = Path(__file__).resolve().parents[2]
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
_FORGET_PEAK = "5"


def peak_mb(environment: Mapping[str, str], import_id: int, chunks: Sequence[int]) -> float | None:
    """Megabytes; the chunks are imported by it. None where the kernel does not say."""
    if not _STATUS.exists():
        return None
    command = [sys.executable, "-m", "benchmarks.imports.memory", str(import_id), *map(str, chunks)]
    done = subprocess.run(  # noqa: S603 - our own module, and numbers
        command, cwd=_ROOT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"a chunk failed in a process of its own: {(done.stderr.strip() or done.stdout)[-500:]}")
    return round(float(done.stdout.split()[-1]), 1)


def _worked(import_id: int, chunks: Sequence[int]) -> float:
    _CLEAR.write_text(_FORGET_PEAK)
    before = peak_bytes()
    for chunk_no in chunks:
        seconds_of(import_chunk.lambda_handler, {"import_id": import_id, "chunk_no": chunk_no})
    return (peak_bytes() - before) / 1e6


if __name__ == "__main__":
    print(_worked(int(sys.argv[1]), [int(each) for each in sys.argv[2:]]))
