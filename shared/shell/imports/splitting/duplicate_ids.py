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
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, TypeVar
from zlib import crc32

# With a thousand million ids, two million in each.
PARTITIONS = 512
INDEX_BYTES = 8 * (PARTITIONS + 1)
MAX_BUFFERED, MAX_BUFFERED_CHARACTERS = 20_000, 2_000_000
_HEAD = struct.Struct("<Q")
Entries = Iterable[tuple[bytes, int]]
T = TypeVar("T")


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

    @property
    def spilled_bytes(self) -> int:
        """The bytes on disk."""
        return self._starts[-1][-1] if self._starts else 0

    def find_repeats(self, at_most: int) -> Iterator[list[tuple[int, int]]]:
        """Yield lists of at most `at_most` pairs (line, first line) of keys that occurred on an earlier line.

        The order of the pairs is undefined. Keys may be added afterwards.
        """
        partitions = enumerate(_partition(self._buffer))
        found = (find_repeats(chain(self._unpack_partition(number), buffered)) for number, buffered in partitions)
        return take_lists(chain.from_iterable(found), at_most)

    def list_distinct(self, at_most: int) -> Iterator[list[str]]:
        """Yield the distinct keys in lists of at most `at_most`, in an order that is undefined."""
        keys = (key.decode("utf-8", "surrogatepass") for entries in self._list_partitions() for key in dict(entries))
        return take_lists(keys, at_most)

    def list_first_lines(self, at_most: int) -> Iterator[list[tuple[str, int]]]:
        """Yield the distinct keys, each with its lowest line, in lists of at most `at_most`, in an undefined order."""
        entries = (each for part in self._list_partitions() for each in dict(_sort_by_line(part)[::-1]).items())
        return take_lists(((key.decode("utf-8", "surrogatepass"), line) for key, line in entries), at_most)

    def find_unordered_repeats(self, at_most: int) -> Iterator[list[tuple[int, int]]]:
        """Do what `find_repeats` does with keys that were added in any order of their lines."""
        found = (find_repeats(_sort_by_line(part)) for part in self._list_partitions())
        return take_lists(chain.from_iterable(found), at_most)

    def _list_partitions(self) -> Iterator[Entries]:
        for number, buffered in enumerate(_partition(self._buffer)):
            yield chain(self._unpack_partition(number), buffered)

    def pack(self) -> Iterator[bytes]:
        """Yield the keys for `unpack`, partition by partition, after an index of INDEX_BYTES.

        The index is the starts of the partitions and the end of the last one, in bytes from the end of the index.
        """
        self._spill()
        sizes = [0] * PARTITIONS
        for starts in self._starts:
            sizes = [size + end - start for size, (start, end) in zip(sizes, pairwise(starts), strict=True)]
        yield array("Q", accumulate(sizes, initial=0)).tobytes()
        for partition in range(PARTITIONS):
            yield from self._read_partition(partition)

    def clear(self) -> None:
        """Remove all keys."""
        if self._file:
            self._file.truncate(0)
        self._starts, self._buffer, self._characters = [], [], 0

    def close(self) -> None:
        """Close the file; the caller deletes the folder."""
        if self._file:
            self._file.close()
        self._file, self._starts = None, []

    def _unpack_partition(self, partition: int) -> Iterator[tuple[bytes, int]]:
        return chain.from_iterable(map(unpack, self._read_partition(partition)))

    def _read_partition(self, partition: int) -> Iterator[bytes]:
        for starts in self._starts:
            if self._file and starts[partition] < starts[partition + 1]:
                self._file.seek(starts[partition])
                yield self._file.read(starts[partition + 1] - starts[partition])


def _partition(keys: Iterable[tuple[str, int]]) -> list[list[tuple[bytes, int]]]:
    partitions: list[list[tuple[bytes, int]]] = [[] for _ in range(PARTITIONS)]
    for key, line in keys:
        raw = key.encode("utf-8", "surrogatepass")
        partitions[crc32(raw) % PARTITIONS].append((raw, line))
    return partitions


def _sort_by_line(entries: Entries) -> list[tuple[bytes, int]]:
    return sorted(entries, key=itemgetter(1))


def _pack(entries: list[tuple[bytes, int]]) -> bytes:
    """Return the lines, the lengths and the keys as three blocks, which take few objects for any number of entries."""
    keys, lines = zip(*entries, strict=True)
    return b"".join((_HEAD.pack(len(keys)), array("Q", lines), array("I", map(len, keys)), *keys))


def unpack(raw: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the entries of any number of packed lists."""
    at = 0
    while at < len(raw):
        (count,) = _HEAD.unpack_from(raw, at)
        at, (lines, lengths) = at + _HEAD.size, (array("Q"), array("I"))
        for column in (lines, lengths):
            column.frombytes(raw[at : at + count * column.itemsize])
            at += count * column.itemsize
        ends = [*accumulate(lengths, initial=at)]
        keys = (raw[start:end] for start, end in pairwise(ends))
        yield from zip(keys, lines, strict=True)
        at = ends[-1]


def take_lists(items: Iterable[T], at_most: int) -> Iterator[list[T]]:
    """Yield the items in lists of at most `at_most`."""
    iterator = iter(items)
    while found := list(islice(iterator, at_most)):
        yield found


def find_repeats(entries: Entries) -> Iterator[tuple[int, int]]:
    """Yield (line, first line) of each key that occurred before; `entries` are in order of line for each key."""
    first: dict[bytes, int] = {}
    for key, line in entries:
        earlier = first.setdefault(key, line)
        if earlier != line:
            yield line, earlier
