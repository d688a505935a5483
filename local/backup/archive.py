"""The file of a backup: a tar archive whose last member, the manifest, has the SHA-256 of all others.

Guaranteed: an archive that is complete has a manifest that matches; anything that was cut off, changed or added is
found before it is used. Members are written and read as streams. Only the owner can read what is written.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import re
import stat
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

from local.errors import LocalError, UsageError

MANIFEST = "manifest.json"
FORMAT = 1
_MEMBER = re.compile(r"database/(schema\.json|rows\.sql\.gz)|objects/index\.db|objects/blobs/[0-9a-f]{32}")
_BLOCK = 1_000_000
# Opening a link, a pipe without a reader, a folder, or a file of another user.
_FOREIGN = (errno.ELOOP, errno.ENXIO, errno.EISDIR, errno.EACCES)


class ArchiveWriter:
    """An archive that is being written."""

    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive
        self._digests: dict[str, str] = {}

    def add(self, name: str, opened: BinaryIO) -> None:
        """Add a file and close it. Raises LocalError if it cannot be read, or the archive not be written."""
        with opened as file:
            self._add(name, os.fstat(file.fileno()).st_size, file)

    def add_manifest(self, facts: Mapping[str, Any]) -> None:
        """End the archive with what it is, and the digests of its members."""
        manifest = json.dumps({**facts, "format": FORMAT, "members": self._digests}, indent=1).encode()
        self._add(MANIFEST, len(manifest), io.BytesIO(manifest))

    def _add(self, name: str, size: int, file: IO[bytes]) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode = size, 0o600
        hashed = _HashedFile(file)
        try:
            self._archive.addfile(member, hashed)
        except OSError as exc:
            raise LocalError(f"the backup was not written ({name}: {exc}); check the disk, then run it again") from exc
        self._digests[name] = hashed.digest.hexdigest()


class _HashedFile:
    """A file whose bytes are hashed as they are read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._file.read(size)
        self.digest.update(block)
        return block


def check_new_file(path: Path) -> None:
    """Raise UsageError if there is a file of this name, or no folder for it."""
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} is not a folder; create it, or give another name")
    if path.exists():
        raise _build_exists(path)


@contextmanager
def write_archive(path: Path) -> Iterator[ArchiveWriter]:
    """Write an archive in the block; it has its name once it is complete and on the disk.

    Raises UsageError if there is a file of this name, or no folder for it, and LocalError if another backup is being
    written to it, or its draft is a link or not a file of this user.
    """
    check_new_file(path)
    draft = path.with_name(f"{path.name}.partial")
    opened = _open_draft(draft, path)
    # The lock is held until the draft has no name any more: until then, no other backup can truncate it.
    with opened as file:
        try:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
                yield ArchiveWriter(archive)
            file.flush()
            os.fsync(file.fileno())
            _name(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def _name(draft: Path, path: Path) -> None:
    """Give the draft its name. Raises UsageError if a file of this name appeared meanwhile: it stays."""
    try:
        os.link(draft, path)
    except FileExistsError as exc:
        raise _build_exists(path) from exc
    except OSError:
        # A file system without links, as on many USB disks.
        if path.exists():
            raise _build_exists(path) from None
        draft.rename(path)


def _build_exists(path: Path) -> UsageError:
    return UsageError(f"{path} exists; give another name, or delete it first")


def _open_draft(draft: Path, path: Path) -> BinaryIO:
    """Return the empty draft of mode 0600, locked until it is closed: one that a killed command has left is reused.

    Raises LocalError if another command is writing it, or if it is not a file of this user.
    """
    while True:
        file = _open_own(draft)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            file.close()
            raise LocalError(f"another backup is being written to {path}; wait for it, or give another name") from exc
        # Between the two calls, the command that had it may have ended and deleted it.
        if _is_named(file, draft):
            _check_own(file, draft, links=1)
            file.truncate(0)
            return file
        file.close()


def _open_own(draft: Path) -> BinaryIO:
    """Open the draft, or create it, and leave its content. Raises LocalError unless it is a file of this user."""
    try:
        # O_NONBLOCK does not wait for the reader of a pipe.
        handle = os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    except OSError as exc:
        if exc.errno in _FOREIGN and os.path.lexists(draft):
            raise _build_foreign(draft) from exc
        raise
    file = os.fdopen(handle, "wb")
    _check_own(file, draft)
    # One that is there may have another mode.
    os.fchmod(handle, 0o600)
    return file


def _check_own(file: BinaryIO, draft: Path, links: int | None = None) -> None:
    """Raise LocalError, and close the file, unless it is a regular one of this user with this number of names."""
    found = os.fstat(file.fileno())
    if found.st_uid != os.getuid() or not stat.S_ISREG(found.st_mode) or (links and found.st_nlink != links):
        file.close()
        raise _build_foreign(draft)


def _build_foreign(draft: Path) -> LocalError:
    return LocalError(f"{draft} is a link, or not a file of yours; delete it, or give another name")


def _is_named(file: BinaryIO, draft: Path) -> bool:
    try:
        return os.path.samestat(os.lstat(draft), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def extract_archive(path: Path, folder: Path) -> dict[str, Any]:
    """Extract an archive to a new folder, check it, and return its manifest.

    Raises UsageError if there is no such file, and LocalError if it cannot be read, is not a backup, is of another
    version, or is not what was written.
    """
    if not path.is_file():
        raise UsageError(f"{path} is not a file; give the path of one that `backup` has written")
    digests: dict[str, str] = {}
    manifest: dict[str, Any] | None = None
    try:
        with tarfile.open(path, mode="r|") as archive:
            for member in archive:
                if manifest is not None or not member.isreg():
                    raise LocalError(f"{path} has a member that no backup has: {member.name}; use another one")
                content: Any = archive.extractfile(member)
                if member.name == MANIFEST:
                    manifest = json.loads(content.read())
                else:
                    digests[member.name] = _extract(member.name, content, folder, path)
    except (tarfile.TarError, ValueError, EOFError) as exc:
        raise LocalError(f"{path} is not a backup, or was cut off ({exc}); use another one") from exc
    except OSError as exc:
        raise LocalError(f"{path} cannot be read ({exc}); check the disk and your rights") from exc
    if manifest is None:
        raise LocalError(f"{path} has no manifest: it was cut off, or is not a backup; use another one")
    _compare(path, manifest, digests)
    return manifest


def _compare(path: Path, manifest: dict[str, Any], digests: Mapping[str, str]) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise LocalError(f"{path} is a backup of another version of exhibit-ingest; restore it with that version")
    stated = manifest["members"]
    wrong = [name for name in sorted({*stated, *digests}) if stated.get(name) != digests.get(name)]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise LocalError(f"{path} is damaged: {wrong[0]}{more} is not what was written; use another backup")


def _extract(name: str, content: IO[bytes], folder: Path, path: Path) -> str:
    if not _MEMBER.fullmatch(name):
        raise LocalError(f"{path} has a member that no backup has: {name}; use another one")
    target = folder / name
    if name.startswith("objects/blobs/"):
        target = target.parent / target.name[:2] / target.name
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest = hashlib.sha256()
    with os.fdopen(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        while block := content.read(_BLOCK):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()
