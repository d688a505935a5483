"""Files of the user that other users of the machine cannot read."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_DRAFT = ".draft"
_STALE_S, _ATTEMPTS, _PAUSE_S = 60.0, 20, 0.05


def write_private_file(path: Path, content: str) -> None:
    """Write a file of mode 0600 in place of an earlier one: a reader sees the earlier one or this one, whole.

    Once it returns, a power cut does not undo it. What a killed command left half written is removed. On Windows, the
    folder of the user's profile keeps others out. Raises OSError if the folder cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _remove_stale(path)
    # mkstemp creates the file with mode 0600.
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=_DRAFT)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise
    _sync_folder(path.parent)


def _remove_stale(path: Path) -> None:
    for draft in path.parent.glob(f".{path.name}.*{_DRAFT}"):
        with suppress(OSError):
            if draft.stat().st_mtime < time.time() - _STALE_S:
                draft.unlink()


def _replace(draft: str, path: Path) -> None:
    # Windows refuses it while another process has the file open, which readers have for an instant.
    for _ in range(_ATTEMPTS):
        try:
            return os.replace(draft, path)
        except PermissionError:
            time.sleep(_PAUSE_S)
    return os.replace(draft, path)


def _sync_folder(folder: Path) -> None:
    """Have the name of a new file survive a power cut, which Windows does by itself."""
    if os.name == "nt":
        return
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
