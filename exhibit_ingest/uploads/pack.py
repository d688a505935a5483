"""A zip of a folder that is made while it is sent, with stored entries.

Guaranteed: its length is known before a byte of a file is read, the same files make the same bytes on every machine,
and any range of it can be made again; no file is held in memory. The CRCs of files that were read to their end are
kept; those of others, as after a restart, are computed when a descriptor or the directory needs them.
"""

from __future__ import annotations

import threading
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator

from exhibit_ingest.uploads import zip_records as records
from exhibit_ingest.uploads.faults import FileChangedFault
from exhibit_ingest.uploads.folders import Folder
from exhibit_ingest.uploads.local_files import BLOCK_BYTES, LocalFile, check_unchanged, read_range

_UNKNOWN = -1


class Archive:
    """A zip of all files of a folder, as a `Source`; threads read ranges of it at once."""

    def __init__(self, folder: Folder, path: str) -> None:
        self._folder, self.path, self.files = folder, path, len(folder)
        # Where each entry ends.
        self._ends = array("q")
        self._crcs = array("q", [_UNKNOWN]) * len(folder)
        self._reading = threading.Lock()
        at = self._directory_size = 0
        for file in folder:
            name = file.path.encode()
            self._directory_size += records.measure_directory_entry(name, file.size, at)
            at += records.measure_entry(name, file.size)
            self._ends.append(at)
        self._start = at
        end = records.make_end(len(folder), self._start, self._directory_size)
        self.size = self._start + self._directory_size + len(end)

    def read(self, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes of a range. Raises FileChangedFault, and OSError."""
        return _join(self._cut(start, end))

    def count_ends(self, start: int, end: int) -> int:
        """Return how many files end in a range; that of the end has all that are left."""
        until = len(self._ends) if end >= self.size else bisect_right(self._ends, end)
        return until - bisect_right(self._ends, start)

    def check(self) -> None:
        """Raise FileChangedFault if a file was changed."""
        for file in self._folder:
            check_unchanged(file)

    def _cut(self, start: int, end: int) -> Iterator[bytes]:
        for index in range(bisect_right(self._ends, start), len(self._folder)):
            if self._get_start(index) >= end:
                return
            yield from self._read_entry(index, start, end)
        at = self._start
        for block in self._make_directory() if end > at else ():
            yield block[max(start - at, 0) : max(end - at, 0)]
            at += len(block)

    def _get_start(self, index: int) -> int:
        return self._ends[index - 1] if index else 0

    def _read_entry(self, index: int, start: int, end: int) -> Iterator[bytes]:
        file, at = self._folder[index], self._get_start(index)
        header = records.make_header(file.path.encode(), file.size)
        yield header[max(start - at, 0) : max(end - at, 0)]
        data = at + len(header)
        first, last = max(start - data, 0), min(end - data, file.size)
        if first < last or (file.size == 0 and self._crcs[index] == _UNKNOWN):
            yield from self._read_data(index, file, first, last)
        behind = data + file.size
        if start < self._ends[index] and end > behind:
            descriptor = records.make_descriptor(file.size, self._get_crc(index, file))
            yield descriptor[max(start - behind, 0) : end - behind]

    def _read_data(self, index: int, file: LocalFile, first: int, last: int) -> Iterator[bytes]:
        crc = 0
        for block in read_range(file, first, last):
            crc = zlib.crc32(block, crc)
            yield block
        if (first, last) == (0, file.size):
            self._keep_crc(index, file, crc)

    def _get_crc(self, index: int, file: LocalFile) -> int:
        """Return the CRC of a file, which is read for it at most once."""
        if self._crcs[index] == _UNKNOWN:
            with self._reading:
                for _ in self._read_data(index, file, 0, file.size) if self._crcs[index] == _UNKNOWN else ():
                    pass
        return self._crcs[index]

    def _keep_crc(self, index: int, file: LocalFile, crc: int) -> None:
        if self._crcs[index] not in (_UNKNOWN, crc):
            raise FileChangedFault(file.path)
        self._crcs[index] = crc

    def _make_directory(self) -> Iterator[bytes]:
        for index, file in enumerate(self._folder):
            crc = self._get_crc(index, file)
            yield records.make_directory_entry(file.path.encode(), file.size, self._get_start(index), crc)
        yield records.make_end(len(self._folder), self._start, self._directory_size)


def _join(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the bytes of many small pieces as blocks."""
    block = bytearray()
    for piece in pieces:
        block += piece
        if len(block) >= BLOCK_BYTES:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)
