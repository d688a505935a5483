"""The line, the control number and the parent of every row, by the position in which the row was read.

Guaranteed: memory does not grow with the number of rows: the values are in files, which are mapped.
"""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO

_BYTES = 8
# Of a row without a parent in the file.
NO_PARENT = 0


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
        """Map the files; no row can be added any more. All rows are without a parent."""
        for file in self._files.values():
            file.flush()
        self._numbers = self._map(self._files["numbers"])
        self._lines, self._ends = (memoryview(self._map(self._files[name])).cast("q") for name in ("lines", "ends"))
        self.parents = self._create("parents")
        self._views += [self._lines, self._ends]

    def _create(self, name: str) -> memoryview:
        self._files[name] = file = (self._folder / name).open("w+b")
        file.truncate(_BYTES * (self.rows + 1))
        view = memoryview(self._map(file)).cast("q")
        self._views.append(view)
        return view

    def _map(self, file: BinaryIO) -> mmap.mmap:
        if not file.seek(0, 2):
            # An empty file cannot be mapped.
            file.truncate(_BYTES)
        self._maps.append(mmap.mmap(file.fileno(), 0))
        return self._maps[-1]

    def line(self, row: int) -> int:
        """Return the line of a row."""
        return int(self._lines[row - 1])

    def control_number(self, row: int) -> str:
        """Return the control number of a row."""
        start = self._ends[row - 2] if row > 1 else 0
        return self._numbers[start : self._ends[row - 1]].decode("utf-8", "surrogatepass")

    def find_cycles(self) -> Iterator[int]:
        """Yield one row of each cycle of parents."""
        parents, seen = self.parents, self._create("seen")
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
        return self._bytes + 2 * _BYTES * self.rows

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
