"""Free space for the files of the local stack.

A database server that finds its disk full waits for space without an end, so the space is checked before.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from local.errors import DiskFullError

MIN_FREE_BYTES = 64 * 1024 * 1024


def temporary_folder() -> Path:
    """Return the folder that this process and its children keep temporary files in, even if it is full."""
    names = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    return Path(tempfile.tempdir or next(filter(None, names), "/tmp"))  # noqa: S108 - the default of every system


def check_disk_space(folder: Path, needed: int = 0) -> None:
    """Raise DiskFullError unless the disk of a folder has room for `needed` bytes and MIN_FREE_BYTES more."""
    existing = next(path for path in (folder, *folder.resolve().parents) if path.exists())
    disk = os.statvfs(existing)
    # Part of a disk can be reserved for root.
    free = disk.f_frsize * (disk.f_bfree if os.geteuid() == 0 else disk.f_bavail)
    required = needed + MIN_FREE_BYTES
    if free < required:
        raise DiskFullError(
            f"the disk of {folder} is full: {free // 2**20:,} MB are free, and {required // 2**20:,} MB are needed;"
            " free some space and run the command again"
        )
