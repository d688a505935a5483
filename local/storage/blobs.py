"""The bytes of stored objects: files that are written once, under names that never come again.

Guaranteed: the bytes of a draft are on the disk when `finish` returns. A draft that no committed row names is deleted
at the next start, one that a row names is kept, whenever the process or the machine ended. No file is deleted while a
backup reads (`hold_blobs`); that is done later. Only the owner can read the files.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from local.private_files import make_private_folder

HOLD_FILE = "hold"
_BLOBS, _DRAFTS = "blobs", "drafts"
_BLOCK = 1_000_000


class Written(NamedTuple):
    """A draft that is on the disk; `sha256` is None unless it was requested."""

    blob: str
    size: int
    md5: str
    crc32: int
    sha256: bytes | None


class Draft:
    """A file that is being written."""

    def __init__(self, folder: Path, *, with_sha256: bool = False) -> None:
        self.blob = secrets.token_hex(16)
        self._path = folder / self.blob
        self._file = os.fdopen(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb", 0)
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._sha256 = hashlib.sha256() if with_sha256 else None
        self._crc32, self.size = 0, 0

    def write(self, block: bytes) -> None:
        """Append bytes."""
        view = memoryview(block)
        while view:
            view = view[self._file.write(view) :]
        self._md5.update(block)
        self._crc32 = zlib.crc32(block, self._crc32)
        self.size += len(block)
        if self._sha256:
            self._sha256.update(block)

    def finish(self) -> Written:
        """Close the file and wait until it is on the disk, under its name."""
        os.fsync(self._file.fileno())
        self._file.close()
        _sync_folder(self._path.parent)
        digest = self._sha256.digest() if self._sha256 else None
        return Written(self.blob, self.size, self._md5.hexdigest(), self._crc32, digest)

    def discard(self) -> None:
        """Close and delete the file."""
        self._file.close()
        self._path.unlink(missing_ok=True)


class Blobs:
    """The files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._drafts = make_private_folder(folder / _DRAFTS)
        self._blobs = make_private_folder(folder / _BLOBS)

    def draft(self, *, with_sha256: bool = False) -> Draft:
        """Return a new file to write to."""
        return Draft(self._drafts, with_sha256=with_sha256)

    def write(self, data: bytes) -> Written:
        """Write a file at once."""
        draft = self.draft()
        try:
            draft.write(data)
            return draft.finish()
        except BaseException:
            draft.discard()
            raise

    def keep(self, blob: str) -> None:
        """Move a draft that a committed row names to its place; a file that is there stays."""
        place = self.find(blob)
        make_private_folder(place.parent)
        with contextlib.suppress(FileNotFoundError):
            os.rename(self._drafts / blob, place)

    def find(self, blob: str) -> Path:
        """Return the path of a file that is kept."""
        return self._blobs / blob[:2] / blob

    def open(self, blob: str) -> BinaryIO:
        """Open a file, also one that is just being moved to its place. Raises FileNotFoundError."""
        for path in (self.find(blob), self._drafts / blob):
            with contextlib.suppress(FileNotFoundError):
                return path.open("rb", buffering=0)
        return self.find(blob).open("rb", buffering=0)

    def read(self, blob: str, start: int, size: int) -> Iterator[bytes]:
        """Yield a range of a file in blocks. Raises OSError if the file is shorter or missing."""
        with self.open(blob) as file:
            file.seek(start)
            while size:
                block = file.read(min(size, _BLOCK))
                if not block:
                    raise OSError(f"{self.find(blob)} is shorter than its object; restore it from a backup")
                size -= len(block)
                yield block

    def list_drafts(self) -> list[str]:
        """Return the drafts that an earlier process left, or that are being written."""
        return os.listdir(self._drafts)

    def delete(self, blobs: Iterable[str]) -> None:
        """Delete files, kept ones and drafts; those that are gone are left out.

        The draft goes first: in the other order, `keep` could move it between the two to a place that was empty.
        """
        for blob in blobs:
            for path in (self._drafts / blob, self.find(blob)):
                path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def unless_held(self) -> Iterator[bool]:
        """Yield whether files may be deleted in the block: a backup that begins meanwhile waits for its end."""
        with _open_hold(self.folder) as hold:
            try:
                fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True


@contextlib.contextmanager
def hold_blobs(folder: Path) -> Iterator[None]:
    """Keep every file of the storage in a folder for the block, from another process."""
    with _open_hold(folder) as hold:
        fcntl.flock(hold, fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def _open_hold(folder: Path) -> Iterator[int]:
    handle = os.open(folder / HOLD_FILE, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        yield handle
    finally:
        os.close(handle)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
