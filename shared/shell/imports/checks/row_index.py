"""The line, the control number and the parent of every row, by the position in which the row was read.

Guaranteed: memory does not grow with the number of rows: the values are in files. Those of the parents, 16 bytes a row,
are mapped, so that the system can write them back when memory is short.
"""

from __future__ import annotations

import mmap
import os
import struct
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

_NUMBER = struct.Struct("q")


class RowIndex:
    """Rows are added first; after `freeze`, they are found by position, from 1."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        names = ("lines", "ends", "numbers")
        self._files: dict[str, BinaryIO] = {name: (self._folder / name).open("w+b") for name in names}
        self._maps: list[mmap.mmap] = []
        self._views: list[memoryview] = []
        self.rows = self._bytes = 0

    def add(self, lines: Sequence[int], numbers: Sequence[str]) -> None:
        """Add rows with these lines and control numbers."""
        raw = [number.encode("utf-8", "surrogatepass") for number in numbers]
        self._files["lines"].write(array("q", lines).tobytes())
        ends = [*accumulate(map(len, raw), initial=self._bytes)]
        self._files["ends"].write(array("q", ends[1:]).tobytes())
        self._files["numbers"].write(b"".join(raw))
        self.rows, self._bytes = self.rows + len(lines), ends[-1]

    def freeze(self) -> None:
        """End adding. No row has a parent yet."""
        for file in self._files.values():
            file.flush()
        self.parents = self._map("parents")

    def _map(self, name: str) -> memoryview:
        """Return a number for each row, 0 at first, in a file."""
        self._files[name] = file = (self._folder / name).open("w+b")
        file.truncate(_NUMBER.size * (self.rows + 1))
        self._maps.append(mmap.mmap(file.fileno(), 0))
        self._views.append(memoryview(self._maps[-1]).cast("q"))
        return self._views[-1]

    def _read(self, name: str, start: int, size: int) -> bytes:
        return os.pread(self._files[name].fileno(), size, start)

    def _read_number(self, name: str, row: int) -> int:
        return int(_NUMBER.unpack(self._read(name, _NUMBER.size * (row - 1), _NUMBER.size))[0])

    def line(self, row: int) -> int:
        """Return the line of a row."""
        return self._read_number("lines", row)

    def control_number(self, row: int) -> str:
        """Return the control number of a row."""
        start = self._read_number("ends", row - 1) if row > 1 else 0
        return self._read("numbers", start, self._read_number("ends", row) - start).decode("utf-8", "surrogatepass")

    def find_cycles(self) -> Iterator[int]:
        """Yield one row of each cycle of parents."""
        parents, seen = self.parents, self._map("seen")
        for start in range(1, self.rows + 1):
            row = start
            while parents[row] and not seen[row]:
                seen[row] = start
                row = parents[row]
            if parents[row] and seen[row] == start:
                yield row

    def follow(self, row: int) -> Iterator[int]:
        """Yield the rows of the cycle that the row is in, beginning with it."""
        yield row
        following = self.parents[row]
        while following != row:
            yield following
            following = self.parents[following]

    @property
    def spilled_bytes(self) -> int:
        """The bytes on disk, without those of the parents."""
        return self._bytes + 2 * _NUMBER.size * self.rows

    def close(self) -> None:
        """Close and delete the files."""
        for view in self._views:
            view.release()
        for mapped in self._maps:
            mapped.close()
        for name, file in self._files.items():
            file.close()
            (self._folder / name).unlink(missing_ok=True)
        self._views, self._maps, self._files = [], [], {}
