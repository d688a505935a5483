"""A lock that allows one command at a time in a state directory."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.errors import StackBusyError


@contextmanager
def lock_state_directory(directory: Path) -> Iterator[None]:
    """Lock the directory for the block. Raises StackBusyError with the id of the process that has the lock.

    The kernel releases the lock when its process ends, even if it is killed.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / "lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            raise StackBusyError(
                f"another exhibit-ingest command (process {holder}) is using {directory};"
                " end it (Ctrl-C) first, or use the API if that command is `serve`"
            ) from exc
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
