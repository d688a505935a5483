"""The files of a folder, and which volume a folder was sent to before.

Guaranteed: links are refused, not followed: what is sent is what the folder itself has. Not guaranteed: that a folder
whose files have the same sizes and times has the same bytes; the sender compares these.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, NoReturn

from local.errors import LocalError
from local.private_files import make_private_folder

MEMORY = "volumes.sqlite"
_BLOCK_BYTES = 1 << 20
_CREATE = """
CREATE TABLE IF NOT EXISTS uploads (content TEXT PRIMARY KEY, volume INTEGER NOT NULL, created TEXT NOT NULL)
"""


class LocalFile(NamedTuple):
    """A file to send: its path within the volume, where it is, its size in bytes, when it was changed."""

    path: str
    file: Path
    size: int
    changed: int


class Upload(NamedTuple):
    """The volume that a folder is sent to: its number, and when it was created, which tells two databases apart."""

    volume: int
    created: str


def list_files(folder: Path) -> list[LocalFile]:
    """Return the files of the folder in the order of their paths.

    Raises LocalError for a link, a device, or without files, and OSError for a folder that cannot be read.
    """
    files = sorted(_walk(folder))
    if not files:
        raise LocalError(f"the folder {folder} has no files; give the folder of a production")
    return files


def _walk(folder: Path) -> Iterator[LocalFile]:
    for parent, folders, names in os.walk(folder, onerror=_raise):
        for name in (*folders, *names):
            file = Path(parent, name)
            found = file.lstat()
            if stat.S_ISREG(found.st_mode):
                yield LocalFile(file.relative_to(folder).as_posix(), file, found.st_size, found.st_mtime_ns)
            elif not stat.S_ISDIR(found.st_mode):
                kind = "a link" if stat.S_ISLNK(found.st_mode) else "not a regular file"
                raise LocalError(f"{file} is {kind}; put the file or folder itself in its place, or remove it")


def _raise(error: OSError) -> NoReturn:
    raise error


class UploadMemory:
    """What is remembered of uploads, in the state directory."""

    def __init__(self, state_dir: Path) -> None:
        self._path = make_private_folder(state_dir) / MEMORY

    def find_upload(self, content: str) -> Upload | None:
        """Return the volume that files with this content were sent to, if they were not sent to their end."""
        with closing(self._open()) as memory:
            row = memory.execute("SELECT volume, created FROM uploads WHERE content = ?", (content,)).fetchone()
        return Upload(*row) if row else None

    def begin_upload(self, content: str, upload: Upload) -> None:
        """Remember the volume that the files are sent to."""
        with closing(self._open()) as memory, memory:
            memory.execute("INSERT OR REPLACE INTO uploads VALUES (?, ?, ?)", (content, *upload))

    def end_upload(self, content: str) -> None:
        """Remove the volume: its import is requested."""
        with closing(self._open()) as memory, memory:
            memory.execute("DELETE FROM uploads WHERE content = ?", (content,))

    def _open(self) -> sqlite3.Connection:
        memory = sqlite3.connect(self._path, timeout=60)
        memory.execute(_CREATE)
        return memory


def identify_content(files: Sequence[LocalFile], *place: str) -> str:
    """Return what identifies the files as they are now, for a place such as tenant and case."""
    digest = hashlib.sha256(json.dumps(place).encode())
    for path, file, size, changed in files:
        digest.update(json.dumps([path, str(file.absolute()), size, changed]).encode())
    return digest.hexdigest()


def hash_file(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal. Raises OSError."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
