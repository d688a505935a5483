r"""Files of this machine as they were listed, read so that a change is noticed.

Guaranteed: bytes are given out only of a file that has the size and the time of its listing, before and after they were
read; otherwise FileChangedFault. Not guaranteed: that a program which restores the time of a file is noticed; the parts
of an upload are compared with what the storage has, besides.
"""

from __future__ import annotations

import hashlib
import ntpath
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from exhibit_ingest.uploads.faults import FileChangedFault, UploadFault

BLOCK_BYTES = 262_144
# Of the beginning and of the end of a file, for its fingerprint.
_END_BYTES = 65_536


class LocalFile(NamedTuple):
    """A file: its path for people and within a volume, where it is, its size in bytes, when it was changed (ns)."""

    path: str
    file: str
    size: int
    changed: int


def extend_path(path: str, *, is_windows: bool = os.name == "nt") -> str:
    r"""Return a path that Windows opens with any length (`\\?\C:\…`, `\\?\UNC\server\…`); elsewhere the path itself."""
    if not is_windows or path.startswith("\\\\?\\"):
        return path
    absolute = ntpath.abspath(path)
    return f"\\\\?\\UNC\\{absolute[2:]}" if absolute.startswith("\\\\") else f"\\\\?\\{absolute}"


def find_file(file: str | os.PathLike[str]) -> LocalFile:
    """Return a single file, through a link if that is what the path names.

    Raises OSError, and UploadFault for a name that is not UTF-8, and for a pipe or a device: its size is not known, and
    its bytes cannot be read twice.
    """
    place, name = extend_path(os.fspath(file)), os.path.basename(file)
    shown = name.encode(errors="backslashreplace").decode()
    if shown != name:
        raise UploadFault("final", "BAD_NAME", f"The name of {shown} is not valid UTF-8.", "Rename the file.")
    # Before it is opened: a pipe would wait for a writer.
    if not stat.S_ISREG(os.stat(place).st_mode):
        raise UploadFault("final", "NOT_A_FILE", f"{shown} is not a file.", "Write it to a file, then send that.")
    with open(place, "rb") as stream:
        found = os.fstat(stream.fileno())
    return LocalFile(name, place, found.st_size, found.st_mtime_ns)


@contextmanager
def open_unchanged(file: LocalFile) -> Iterator[BinaryIO]:
    """Open a file for the block. Raises FileChangedFault if it is not the listed one, before the block or after it."""
    try:
        with open(file.file, "rb") as stream:
            _require_unchanged(file, stream)
            yield stream
            _require_unchanged(file, stream)
    except FileNotFoundError:
        raise FileChangedFault(file.path) from None


def _require_unchanged(file: LocalFile, stream: BinaryIO) -> None:
    found = os.fstat(stream.fileno())
    if (found.st_size, found.st_mtime_ns) != (file.size, file.changed):
        raise FileChangedFault(file.path)


def check_unchanged(file: LocalFile) -> None:
    """Raise FileChangedFault if the file is not the listed one any more."""
    with open_unchanged(file):
        pass


def read_range(file: LocalFile, start: int, end: int) -> Iterator[bytes]:
    """Yield the bytes of a file from `start` up to `end`. Raises FileChangedFault, and OSError."""
    with open_unchanged(file) as stream:
        stream.seek(start)
        while start < end:
            block = stream.read(min(BLOCK_BYTES, end - start))
            if not block:
                raise FileChangedFault(file.path)
            start += len(block)
            yield block


def hash_file(file: LocalFile) -> str:
    """Return the SHA-256 of a file in hexadecimal. Raises FileChangedFault, and OSError."""
    digest = hashlib.sha256()
    for block in read_range(file, 0, file.size):
        digest.update(block)
    return digest.hexdigest()


def fingerprint_file(file: LocalFile) -> str:
    """Return what tells a file from others and from itself after a change: size, time, the bytes at both ends."""
    digest = hashlib.sha256(f"{file.size} {file.changed}".encode())
    for start, end in ((0, min(file.size, _END_BYTES)), (max(file.size - _END_BYTES, 0), file.size)):
        for block in read_range(file, start, end):
            digest.update(block)
    return digest.hexdigest()


class FileSource:
    """One file to send, as a `Source`."""

    files = 1

    def __init__(self, file: LocalFile) -> None:
        self._file, self.path, self.size = file, file.path, file.size

    def read(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of a range."""
        return read_range(self._file, start, end)

    def count_ends(self, start: int, end: int) -> int:
        """Return how many files end in a range: 1 for that of the end."""
        return int(end >= self.size and (start < self.size or self.size == 0))

    def check(self) -> None:
        """Raise FileChangedFault if the file was changed."""
        check_unchanged(self._file)
