"""The state directory: one command at a time owns it, and may publish how other commands reach what it runs.

The kernel releases the locks of a process that ends, even if it is killed. So the owner of a lock lives, and a
published file that is not locked is stale.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from local.errors import StackBusyError
from local.private_files import make_private_folder

ADDRESS_FILE = "serve.json"


@contextmanager
def lock_state_directory(directory: Path) -> Iterator[None]:
    """Lock the directory for the block, and delete drafts of addresses that an earlier owner left.

    Raises StackBusyError with the id of the process that has the lock.
    """
    with _open_lock(directory) as lock:
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        # Left by a process that was killed while it published; only the owner of the lock does.
        for draft in directory.glob(f"{ADDRESS_FILE}.*"):
            draft.unlink(missing_ok=True)
        yield


def _open_lock(directory: Path) -> TextIO:
    """Open and lock the file; again where `reset` has deleted it meanwhile, because that lock keeps no process out."""
    path = directory / "lock"
    while True:
        make_private_folder(directory)
        lock = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            raise _build_busy_error(directory, lock) from exc
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                return lock
        lock.close()


def _build_busy_error(directory: Path, lock: TextIO) -> StackBusyError:
    with lock:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
    return StackBusyError(
        f"another exhibit-ingest command (process {holder}) is using {directory};"
        " end it (Ctrl-C) first; if it is a `serve` that is only just starting or ending, try again in a few seconds"
    )


@contextmanager
def publish_address(directory: Path, address: Mapping[str, str | int]) -> Iterator[None]:
    """Publish an address for the block, in a file that only its owner can read; the caller has the lock."""
    path = directory / ADDRESS_FILE
    # mkstemp creates the file with mode 0600; the new name makes it visible when it is complete and locked.
    handle, draft = tempfile.mkstemp(dir=directory, prefix=f"{ADDRESS_FILE}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        json.dump(address, file)
        file.flush()
        os.replace(draft, path)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def read_address(directory: Path) -> dict[str, str | int] | None:
    """Return the published address; None if there is none, or if the process that published it has ended.

    Raises ValueError for an address that is not JSON.
    """
    try:
        file = (directory / ADDRESS_FILE).open(encoding="utf-8")
    except FileNotFoundError:
        return None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            address: dict[str, str | int] = json.load(file)
            return address
    return None
