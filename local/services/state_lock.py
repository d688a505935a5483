"""One command at a time in one state directory."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.errors import StackBusyError


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Hold the directory for the block; raises StackBusyError naming the process that holds it.

    The kernel lets go of the lock when its holder dies, however that happens.
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
                " end it (Ctrl-C) first, or, if it is `serve`, use its API"
            ) from exc
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
