"""A process that only splits an object: `python -m tests.support.split_in_process`, for measuring its memory.

Prints a JSON object: rows seen, chunks, and the most memory (in bytes) that the process ever held, before and after.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from core.import_options import ImportOptions
from shell.splitting_ops import split_file
from shell.utils.object_store import ObjectVersion


def peak_bytes() -> int:
    """The peak of this program; what `getrusage` says includes that of the process it was started from."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    """Split the object and tell."""
    source = ObjectVersion("bucket", "imports/tenant/case/upload/large.dat", "1", None)
    before = peak_bytes()
    with split_file(source, ImportOptions()) as split:
        told = {"rows_seen": split.rows_seen, "chunks": len(split.chunks)}
    print(json.dumps({**told, "before": before, "peak": peak_bytes()}))


if __name__ == "__main__":
    main()
