"""Find repeated ids of a file whose ids are stored in S3, in parts, in memory that depends on one partition.

Guaranteed: ids are compared exactly, byte for byte; a group of partitions can be read at any time, in any process. At
most READ_BYTES of it are in memory before they are compared, or what one part has of it. Not guaranteed: that the
distinct ids of one partition are few; a file can be made whose ids all are in one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, islice

from shell.aws.s3 import ObjectVersion
from shell.imports.splitting.duplicate_ids import INDEX_BYTES, PARTITIONS, find_repeats, take_lists, unpack
from shell.prefetch import reading_ahead

# Partitions are read together up to so many bytes; their ids take about eight times as much memory. The order of the
# repeats depends on it, so it is part of what identifies a split.
GROUP_BYTES = 16_000_000
READERS, READ_BYTES = 8, 64_000_000
Range = tuple[ObjectVersion, int, int]


class StoredIds:
    """The ids of a file in parts, each of which is an object that `SpilledIds.pack` wrote, in the order of the file."""

    def __init__(self, bucket: str, keys: Sequence[str]) -> None:
        self._parts = [ObjectVersion(bucket, key, None, None) for key in keys]
        with ThreadPoolExecutor(READERS) as pool:
            self._indexes = [array("Q", raw) for raw in pool.map(_read_index, self._parts)]

    def find_group_end(self, start: int) -> int:
        """Return the end of the partitions [start, end) that are read together."""
        end, size = start, 0
        while end < PARTITIONS and (end == start or size + self._get_size(end) <= GROUP_BYTES):
            size += self._get_size(end)
            end += 1
        return end

    def find_repeats(self, start: int, end: int, at_most: int, skipped: int = 0) -> Iterator[list[tuple[int, int]]]:
        """Yield lists of at most `at_most` pairs (line, first line) of ids in the partitions that occurred before.

        The order of the pairs is the same in every call; the first `skipped` ones are left out. Raises FileRefusedError
        (SOURCE_GONE) if a part does not exist any more.
        """
        entries = chain.from_iterable(map(unpack, self._read(start, end)))
        return take_lists(islice(find_repeats(entries), skipped, None), at_most)

    def _get_size(self, partition: int) -> int:
        return sum(index[partition + 1] - index[partition] for index in self._indexes)

    def _read(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the partitions of each part; those of a few parts are in memory at a time."""
        ranges = [(part, index[start], index[end]) for part, index in zip(self._parts, self._indexes, strict=True)]
        with reading_ahead(READERS) as pool:
            for batch in _batch(ranges):
                yield from pool.map(_read_range, batch)


def _read_index(part: ObjectVersion) -> bytes:
    return part.read(0, INDEX_BYTES)


def _batch(ranges: Iterable[Range]) -> Iterator[list[Range]]:
    """Yield lists of up to READERS ranges and READ_BYTES, or of one range."""
    batch: list[Range] = []
    size = 0
    for part, start, end in ranges:
        if batch and (len(batch) == READERS or size + end - start > READ_BYTES):
            yield batch
            batch, size = [], 0
        batch.append((part, start, end))
        size += end - start
    yield batch


def _read_range(place: Range) -> bytes:
    part, start, end = place
    return part.read(INDEX_BYTES + start, INDEX_BYTES + end)
