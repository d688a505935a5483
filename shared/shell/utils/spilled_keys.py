"""Which of very many keys repeat, in memory that does not grow with their number.

Keys are spread by checksum over files, so that equal keys meet in one file, and each file is small enough to be read
whole. Keys are compared exactly.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

PARTS = 128
_HEAD = struct.Struct("<QI")


class SpilledKeys:
    """Add (key, line) pairs in the order of their lines, then ask for the repeats."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._files: dict[int, BinaryIO] = {}

    def add(self, keys: Iterable[tuple[str, int]]) -> None:
        """Remember the keys; blank ones are the caller's to leave out."""
        parts: dict[int, list[bytes]] = {}
        for key, line in keys:
            raw = key.encode("utf-8", "surrogatepass")
            parts.setdefault(crc32(raw) % PARTS, []).append(_HEAD.pack(line, len(raw)) + raw)
        for part, entries in parts.items():
            self._file(part).write(b"".join(entries))

    def repeats(self, at_most: int) -> Iterator[list[tuple[int, int]]]:
        """The (line, first line) of keys that stood on an earlier line, in lists of at most that many."""
        found: list[tuple[int, int]] = []
        for part in sorted(self._files):
            for repeat in self._repeats_in(part):
                found.append(repeat)
                if len(found) == at_most:
                    yield found
                    found = []
        if found:
            yield found

    def close(self) -> None:
        """Close the files; the folder is the caller's to remove."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _file(self, part: int) -> BinaryIO:
        if part not in self._files:
            self._files[part] = (self._folder / f"{part:03}").open("w+b")
        return self._files[part]

    def _repeats_in(self, part: int) -> Iterator[tuple[int, int]]:
        file = self._file(part)
        file.seek(0)
        raw = file.read()
        first: dict[bytes, int] = {}
        at = 0
        while at < len(raw):
            line, length = _HEAD.unpack_from(raw, at)
            at += _HEAD.size + length
            earlier = first.setdefault(raw[at - length : at], line)
            if earlier != line:
                yield line, earlier
