"""The uploads of running commands, so that the next command finds the imports of one that was killed.

Guaranteed: an upload that a living command waits for is never listed. Its file in the state directory is locked by that
command, and the kernel releases the lock of a process that ends. A file is deleted once its import has ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TextIO

FOLDER = "running"


@dataclass(frozen=True)
class RunningImport:
    """An upload: its load file, tenant and object; `database` tells two databases apart and has no password."""

    file: str
    tenant: str
    bucket: str
    key: str
    database: str


class ImportJournal:
    """The uploads of one state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._folder = state_dir / FOLDER

    @contextmanager
    def record(self, upload: RunningImport) -> Iterator[Callable[[], None]]:
        """Record an upload for the block, which calls what it gets when the import has ended."""
        self._folder.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=self._folder, prefix=".")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            json.dump(asdict(upload), file)
            file.flush()
            path = self._folder / Path(draft).name.removeprefix(".")
            # Only now is it visible to others, complete and locked.
            os.replace(draft, path)
            yield partial(path.unlink, missing_ok=True)

    def list_abandoned(self, database: str) -> Iterator[RunningImport]:
        """Yield the uploads to a database whose command has ended, each locked; delete those that the caller handled.

        An upload is handled when the caller asks for the next one.
        """
        for path in sorted(self._folder.glob("[!.]*")):
            # Another command may delete the file meanwhile.
            with suppress(FileNotFoundError), path.open(encoding="utf-8") as file:
                upload = _lock_and_read(file)
                if upload and upload.database == database:
                    yield upload
                    path.unlink(missing_ok=True)


def _lock_and_read(file: TextIO) -> RunningImport | None:
    """Return the upload; None while its command lives, or if the file was cut off."""
    with suppress(BlockingIOError, ValueError, TypeError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return RunningImport(**json.load(file))
    return None
