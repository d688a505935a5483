"""A lock that commands of one user share by the path of a file, on every system.

Guaranteed: of all processes and threads, one at a time is in the block; the system ends the lock of a process that
ends, however it ends. Not guaranteed: a lock on a file system that has none, such as some network drives; there the
block runs without it.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from exhibit_ingest.errors import CommandError

_TICK_S = 0.05
# What systems answer where another one has the lock: flock (2) and _locking of the C runtime of Windows.
_TAKEN = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class LockTakenError(CommandError):
    """Another command has the lock."""


@contextmanager
def hold_lock(path: Path, patience_s: float = 0.0) -> Iterator[None]:
    """Hold the lock of a file, which is created with mode 0600 and stays, for the block.

    Raises LockTakenError if another command has it for longer than `patience_s`, OSError if the file cannot be opened.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _acquire(handle, path, patience_s)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, path: Path, patience_s: float) -> None:
    ends = time.monotonic() + patience_s
    while _is_taken(handle):
        if time.monotonic() >= ends:
            raise LockTakenError(f"Another command has the lock {path}. Wait until it has ended, or end it.")
        # In short waits: Windows does not interrupt a long one by Ctrl-C.
        time.sleep(_TICK_S)


def _is_taken(handle: int) -> bool:
    """Take the lock if it is free; return whether another one has it."""
    try:
        _lock(handle)
    except OSError as exc:
        return exc.errno in _TAKEN
    return False


def _lock(handle: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        return
    import fcntl

    # Of the open file, not of the process: two threads exclude each other, too.
    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
