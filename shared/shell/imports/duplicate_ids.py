"""Which of very many keys repeat, in memory that hardly grows with their number.

Keys are spread by checksum over parts, so that equal keys meet in one part, and each is small enough to be held as a
whole. Keys are compared exactly. A few megabytes of keys wait in memory; whenever there are more, all go into one file,
part by part, and what stays in memory is where each part begins there.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator
from io import SEEK_END
from itertools import accumulate, chain, islice, pairwise
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

PARTS = 128
HELD, HELD_CHARACTERS = 20_000, 2_000_000
_HEAD = struct.Struct("<Q")
Entries = Iterable[tuple[bytes, int]]


class SpilledKeys:
    """Add (key, line) pairs in the order of their lines, then ask for the repeats."""

    def __init__(self, folder: str, held: int = HELD) -> None:
        self._path = Path(folder) / "keys"
        self._file: BinaryIO | None = None
        self._starts: list[array[int]] = []
        self._held = held
        self._waiting: list[tuple[str, int]] = []
        self._characters = 0

    def add(self, keys: Iterable[tuple[str, int]]) -> None:
        """Remember the keys; blank ones are the caller's to leave out."""
        before = len(self._waiting)
        self._waiting += keys
        self._characters += sum(len(key) for key, _ in islice(self._waiting, before, None))
        if len(self._waiting) > self._held or self._characters > HELD_CHARACTERS:
            self._spill()

    def _spill(self) -> None:
        self._file = self._file or self._path.open("w+b")
        packed = [_packed(entries) if entries else b"" for entries in _spread(self._waiting)]
        self._starts.append(array("Q", accumulate(map(len, packed), initial=self._file.seek(0, SEEK_END))))
        self._file.write(b"".join(packed))
        self._waiting, self._characters = [], 0

    def repeats(self, at_most: int) -> Iterator[list[tuple[int, int]]]:
        """The (line, first line) of keys that stood on an earlier line, in lists of at most that many."""
        found: list[tuple[int, int]] = []
        for part, waiting in enumerate(_spread(self._waiting)):
            for repeat in _repeats_in(chain(self._spilled(part), waiting)):
                found.append(repeat)
                if len(found) == at_most:
                    yield found
                    found = []
        if found:
            yield found

    def close(self) -> None:
        """Close the file; the folder is the caller's to remove."""
        if self._file:
            self._file.close()
        self._file, self._starts = None, []

    def _spilled(self, part: int) -> Iterator[tuple[bytes, int]]:
        for starts in self._starts:
            if self._file and starts[part] < starts[part + 1]:
                self._file.seek(starts[part])
                yield from _unpacked(self._file.read(starts[part + 1] - starts[part]))


def _spread(keys: Iterable[tuple[str, int]]) -> list[list[tuple[bytes, int]]]:
    parts: list[list[tuple[bytes, int]]] = [[] for _ in range(PARTS)]
    for key, line in keys:
        raw = key.encode("utf-8", "surrogatepass")
        parts[crc32(raw) % PARTS].append((raw, line))
    return parts


def _packed(entries: list[tuple[bytes, int]]) -> bytes:
    """All lines, then all lengths, then all keys: a few objects for however many entries."""
    keys, lines = zip(*entries, strict=True)
    return b"".join((_HEAD.pack(len(keys)), array("Q", lines), array("I", map(len, keys)), *keys))


def _unpacked(raw: bytes) -> Entries:
    (count,) = _HEAD.unpack_from(raw)
    at, (lines, lengths) = _HEAD.size, (array("Q"), array("I"))
    for column in (lines, lengths):
        column.frombytes(raw[at : at + count * column.itemsize])
        at += count * column.itemsize
    keys = (raw[start:end] for start, end in pairwise(accumulate(lengths, initial=at)))
    return zip(keys, lines, strict=True)


def _repeats_in(entries: Entries) -> Iterator[tuple[int, int]]:
    first: dict[bytes, int] = {}
    for key, line in entries:
        earlier = first.setdefault(key, line)
        if earlier != line:
            yield line, earlier
