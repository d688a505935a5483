"""Folders as values, to be compared."""

from __future__ import annotations

import hashlib
from pathlib import Path
from stat import S_IMODE

Tree = dict[str, tuple[int, float, str]]


def tree_of(folder: Path) -> Tree:
    """Mode, time and content of everything in a folder, by its path there."""
    return {str(path.relative_to(folder)): _seen(path) for path in sorted(folder.rglob("*"))}


def _seen(path: Path) -> tuple[int, float, str]:
    status = path.lstat()
    content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return S_IMODE(status.st_mode), status.st_mtime, content
