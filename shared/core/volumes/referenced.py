"""The files of a volume that rows refer to: a bitmap of file numbers, which chunks compute and their completion unites.

Guaranteed: uniting is commutative and idempotent, so that the order and repetition of chunks do not matter. A bitmap
takes a bit for each number up to the highest one: 250 KB for 2,000,000 files.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator

_BLOCK_BYTES = 4_096


class RejectedFiles:
    """The files that rejected rows name, each with the line and the code of the last of these; nine bytes a file."""

    def __init__(self, files: int) -> None:
        self._lines, self._codes = array("q", bytes(8 * files)), array("B", bytes(files))
        self._names: list[str] = []

    def add(self, number: int, line: int, code: str) -> None:
        """Add a file that a rejected row names."""
        if code not in self._names:
            self._names.append(code)
        self._lines[number], self._codes[number] = line, self._names.index(code) + 1

    def find(self, number: int) -> tuple[int, str] | None:
        """Return the line and the code of the row that names the file, None if none does."""
        code = self._codes[number]
        return (self._lines[number], self._names[code - 1]) if code else None


class ReferencedFiles:
    """A set of file numbers, from 0."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._bits = bytearray()
        for number in numbers:
            self.add(number)

    def add(self, number: int) -> None:
        """Add a file. Raises ValueError for a negative number."""
        if number < 0:
            raise ValueError(f"a file number is not negative: {number}")
        place = number >> 3
        if place >= len(self._bits):
            self._bits.extend(bytes(place + 1 - len(self._bits)))
        self._bits[place] |= 1 << (number & 7)

    def unite(self, other: ReferencedFiles) -> None:
        """Add all files of the other set."""
        size = max(len(self._bits), len(other._bits))
        both = int.from_bytes(self._bits, "little") | int.from_bytes(other._bits, "little")
        self._bits = bytearray(both.to_bytes(size, "little"))

    def to_bytes(self) -> bytes:
        """Return the set for `from_bytes`: compressed, because a chunk refers to few of the files."""
        return zlib.compress(self._bits, 1)

    @classmethod
    def from_bytes(cls, raw: bytes) -> ReferencedFiles:
        """Return the set that `to_bytes` wrote. Raises ValueError for other bytes."""
        files = cls()
        try:
            files._bits = bytearray(zlib.decompress(raw))
        except zlib.error as error:
            raise ValueError("these bytes are not a set of files") from error
        return files

    def list_missing(self, files: int) -> Iterator[int]:
        """Yield the numbers below `files` that are not in the set, in order."""
        for start in range(0, (files + 7) // 8, _BLOCK_BYTES):
            block = bytes(self._bits[start : start + _BLOCK_BYTES]).ljust(_BLOCK_BYTES, b"\0")
            for place, bits in enumerate(block) if block.strip(b"\xff") else ():
                if bits != 0xFF:
                    first = (start + place) * 8
                    yield from (first + bit for bit in range(8) if not bits >> bit & 1 and first + bit < files)

    def __contains__(self, number: int) -> bool:
        place = number >> 3
        return 0 <= place < len(self._bits) and bool(self._bits[place] >> (number & 7) & 1)

    def __len__(self) -> int:
        return int.from_bytes(self._bits, "little").bit_count()
