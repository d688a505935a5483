"""The files of a folder, in the order of their paths; what cannot be sent is named before anything is.

Guaranteed: links are refused, not followed: what is sent is what the folder itself has. Every file can be read when it
is listed, and has a path that a volume can have. Files that systems add, such as Thumbs.db, are left out and counted.
A file takes some 150 bytes of memory.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from exhibit_ingest.uploads.faults import UploadFault
from exhibit_ingest.uploads.local_files import LocalFile, extend_path

_SYSTEM_FILES = {".ds_store": ".DS_Store", "thumbs.db": "Thumbs.db", "desktop.ini": "desktop.ini"}
_MAC_FOLDER = "__MACOSX"
# The rules of the server for paths: no control characters or surrogates, which are names that are not UTF-8.
_UNSTORABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\\]")
_DRIVE = re.compile(r"[A-Za-z]:")
_MAX_PATH_BYTES = 1_024
_SHOWN = 10
# Of Windows: a folder that stands for another one (winnt.h, IO_REPARSE_TAG_MOUNT_POINT).
_JUNCTION = 0xA0000003


class Folder:
    """The files of a folder. `left_out` counts what systems add, by name."""

    def __init__(self, root: str, found: _Found) -> None:
        order = sorted(range(len(found.paths)), key=found.paths.__getitem__)
        self._root, self.left_out = root, found.left_out
        self._paths = [found.paths[at] for at in order]
        self._sizes = array("q", (found.sizes[at] for at in order))
        self._times = array("q", (found.times[at] for at in order))
        self.size = sum(self._sizes)

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[LocalFile]:
        return (self[at] for at in range(len(self)))

    def __getitem__(self, at: int) -> LocalFile:
        path = self._paths[at]
        return LocalFile(path, os.path.join(self._root, *path.split("/")), self._sizes[at], self._times[at])

    def fingerprint(self) -> str:
        """Return what tells the folder from others and from itself after a change: paths, sizes and times."""
        digest = hashlib.sha256()
        for path, size, changed in zip(self._paths, self._sizes, self._times, strict=True):
            digest.update(f"{path}\0{size}\0{changed}\n".encode())
        return digest.hexdigest()


@dataclass
class _Found:
    paths: list[str] = field(default_factory=list)
    sizes: array[int] = field(default_factory=lambda: array("q"))
    times: array[int] = field(default_factory=lambda: array("q"))
    left_out: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def list_folder(folder: str | os.PathLike[str]) -> Folder:
    """Return the files of a folder.

    Raises UploadFault that names the first of the files that cannot be sent, and for a folder without files.
    """
    root, found = extend_path(os.fspath(folder)), _Found()
    for path, place in _walk(root, found.problems):
        _add(path, place, found)
    if found.problems:
        raise _refuse(found.problems)
    if not found.paths:
        raise UploadFault("final", "EMPTY", f"The folder {os.fspath(folder)} has no files.", "Give another folder.")
    return Folder(root, found)


def _walk(root: str, problems: list[str]) -> Iterator[tuple[str, str]]:
    """Yield path and place of everything in a folder but its folders."""
    left = [("", root)]
    while left:
        prefix, folder = left.pop()
        try:
            with os.scandir(folder) as entries:
                listed = [(f"{prefix}{each.name}", each.path, _is_folder(each)) for each in entries]
        except OSError as exc:
            problems.append(f"{prefix or folder} cannot be listed ({exc.strerror})")
            continue
        for path, place, is_folder in listed:
            if is_folder:
                left.append((f"{path}/", place))
            else:
                yield path, place


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a folder itself. Raises OSError, as for one that was just removed."""
    is_folder = entry.is_dir(follow_symlinks=False)
    return is_folder and getattr(os.lstat(entry.path), "st_reparse_tag", 0) != _JUNCTION


def _add(path: str, place: str, found: _Found) -> None:
    if system := _find_system_kind(path):
        found.left_out[system] += 1
        return
    try:
        listed = os.lstat(place)
        problem = _find_problem(path, listed.st_mode)
        if problem is None:
            with open(place, "rb"):
                pass
    except OSError as exc:
        problem = f"cannot be read ({exc.strerror})"
    if problem:
        found.problems.append(f"{_shorten(path)} {problem}")
        return
    found.paths.append(path)
    found.sizes.append(listed.st_size)
    found.times.append(listed.st_mtime_ns)


def _find_system_kind(path: str) -> str | None:
    *folders, name = path.split("/")
    return _MAC_FOLDER if _MAC_FOLDER in folders else _SYSTEM_FILES.get(name.lower())


def _find_problem(path: str, mode: int) -> str | None:
    """Return why a file cannot be sent; None if it can."""
    if stat.S_ISLNK(mode) or stat.S_ISDIR(mode):
        return "is a link; put the file or folder itself in its place"
    if not stat.S_ISREG(mode):
        return "is not a file"
    if _UNSTORABLE.search(path):
        return "has a backslash, a control character or bytes that are not UTF-8 in its name"
    if _DRIVE.match(path) or any(not name.strip() for name in path.split("/")):
        return "has a blank name, or begins like a drive"
    if len(path.encode()) > _MAX_PATH_BYTES:
        return f"has a path of more than {_MAX_PATH_BYTES} bytes"
    return None


def _refuse(problems: list[str]) -> UploadFault:
    more = f", and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
    count = "1 entry" if len(problems) == 1 else f"{len(problems):,} entries"
    message = f"{count} of the folder cannot be sent: {'; '.join(sorted(problems)[:_SHOWN])}{more}."
    return UploadFault(
        "final", "CANNOT_BE_SENT", message, "Nothing was sent. Correct these, then run the command again."
    )


def _shorten(path: str) -> str:
    shown = path.encode("utf-8", "backslashreplace").decode()
    shown = "".join(char if char.isprintable() else "?" for char in shown)
    return shown if len(shown) <= 200 else f"…{shown[-199:]}"
