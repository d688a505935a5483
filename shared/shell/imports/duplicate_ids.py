"""Find repeated keys on disk, in memory that hardly grows with the number of keys.

Guaranteed: keys are compared exactly, byte for byte.
Keys are partitioned by checksum, so that equal keys are in the same partition, and each partition is small enough to
be held in memory. A few megabytes of keys are buffered; when the buffer is full, it is appended to one file, partition
by partition, and only the offsets of the partitions stay in memory.
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

PARTITIONS = 128
MAX_BUFFERED, MAX_BUFFERED_CHARACTERS = 20_000, 2_000_000
_HEAD = struct.Struct("<Q")
Entries = Iterable[tuple[bytes, int]]


class SpilledIds:
    """A set of (key, line) pairs, added in order of line, that finds the repeated keys."""

    def __init__(self, folder: str, max_buffered: int = MAX_BUFFERED) -> None:
        self._path = Path(folder) / "keys"
        self._file: BinaryIO | None = None
        self._starts: list[array[int]] = []
        self._max_buffered = max_buffered
        self._buffer: list[tuple[str, int]] = []
        self._characters = 0

    def add(self, keys: Iterable[tuple[str, int]]) -> None:
        """Add the keys; the caller leaves blank ones out."""
        before = len(self._buffer)
        self._buffer += keys
        self._characters += sum(len(key) for key, _ in islice(self._buffer, before, None))
        if len(self._buffer) > self._max_buffered or self._characters > MAX_BUFFERED_CHARACTERS:
            self._spill()

    def _spill(self) -> None:
        self._file = self._file or self._path.open("w+b")
        packed = [_pack(entries) if entries else b"" for entries in _partition(self._buffer)]
        self._starts.append(array("Q", accumulate(map(len, packed), initial=self._file.seek(0, SEEK_END))))
        self._file.write(b"".join(packed))
        self._buffer, self._characters = [], 0

    def find_repeats(self, at_most: int) -> Iterator[list[tuple[int, int]]]:
        """Yield lists of at most `at_most` pairs (line, first line) of keys that occurred on an earlier line.

        The order of the pairs is undefined. Keys may be added afterwards.
        """
        found: list[tuple[int, int]] = []
        for partition, buffered in enumerate(_partition(self._buffer)):
            for repeat in _find_repeats(chain(self._read_partition(partition), buffered)):
                found.append(repeat)
                if len(found) == at_most:
                    yield found
                    found = []
        if found:
            yield found

    def close(self) -> None:
        """Close the file; the caller deletes the folder."""
        if self._file:
            self._file.close()
        self._file, self._starts = None, []

    def _read_partition(self, partition: int) -> Iterator[tuple[bytes, int]]:
        for starts in self._starts:
            if self._file and starts[partition] < starts[partition + 1]:
                self._file.seek(starts[partition])
                yield from _unpack(self._file.read(starts[partition + 1] - starts[partition]))


def _partition(keys: Iterable[tuple[str, int]]) -> list[list[tuple[bytes, int]]]:
    partitions: list[list[tuple[bytes, int]]] = [[] for _ in range(PARTITIONS)]
    for key, line in keys:
        raw = key.encode("utf-8", "surrogatepass")
        partitions[crc32(raw) % PARTITIONS].append((raw, line))
    return partitions


def _pack(entries: list[tuple[bytes, int]]) -> bytes:
    """Return the lines, the lengths and the keys as three blocks, which take few objects for any number of entries."""
    keys, lines = zip(*entries, strict=True)
    return b"".join((_HEAD.pack(len(keys)), array("Q", lines), array("I", map(len, keys)), *keys))


def _unpack(raw: bytes) -> Entries:
    (count,) = _HEAD.unpack_from(raw)
    at, (lines, lengths) = _HEAD.size, (array("Q"), array("I"))
    for column in (lines, lengths):
        column.frombytes(raw[at : at + count * column.itemsize])
        at += count * column.itemsize
    keys = (raw[start:end] for start, end in pairwise(accumulate(lengths, initial=at)))
    return zip(keys, lines, strict=True)


def _find_repeats(entries: Entries) -> Iterator[tuple[int, int]]:
    first: dict[bytes, int] = {}
    for key, line in entries:
        earlier = first.setdefault(key, line)
        if earlier != line:
            yield line, earlier
