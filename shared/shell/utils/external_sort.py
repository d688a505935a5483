"""Sort lines of text that do not fit into memory.

Guaranteed: all lines come in code point order, equal ones as often as they were added. Memory holds one buffer, and
while reading a block of each run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO

MAX_CHARACTERS = 5_000_000
# Of all runs together; each has one block at least.
READ_BYTES, LEAST_BLOCK_BYTES = 2_000_000, 8_192


class ExternalSort:
    """Lines to be sorted; each is text without a line feed. They may be read several times, but not while adding."""

    def __init__(self, folder: str, name: str, max_lines: int) -> None:
        self._path, self._max_lines = Path(folder) / name, max_lines
        self._file: BinaryIO | None = None
        self._runs: list[tuple[int, int]] = []
        self._buffer: list[str] = []
        self._characters = 0

    def add(self, lines: Iterable[str]) -> None:
        """Add lines."""
        before = len(self._buffer)
        self._buffer += lines
        self._characters += sum(map(len, self._buffer[before:]))
        if len(self._buffer) > self._max_lines or self._characters > MAX_CHARACTERS:
            self._spill()

    def _spill(self) -> None:
        self._file = self._file or self._path.open("w+b")
        self._buffer.sort()
        raw = ("\n".join(self._buffer) + "\n").encode("utf-8", "surrogatepass")
        start = self._file.seek(0, SEEK_END)
        self._file.write(raw)
        self._runs.append((start, start + len(raw)))
        self._buffer, self._characters = [], 0

    @property
    def spilled_bytes(self) -> int:
        """The bytes on disk."""
        return self._runs[-1][1] if self._runs else 0

    def read(self) -> Iterator[list[str]]:
        """Yield the lines in order, in lists that are not empty."""
        if self._runs and self._buffer:
            self._spill()
        if not self._runs:
            self._buffer.sort()
            yield from [self._buffer] if self._buffer else ()
            return
        yield from self._merge()

    def _merge(self) -> Iterator[list[str]]:
        """Merge by sorting blocks: `sort` finds the runs in them, and no code runs for a line."""
        if self._file is None:
            return
        size = max(READ_BYTES // len(self._runs), LEAST_BLOCK_BYTES)
        runs = [_Run(self._file, start, end, size) for start, end in self._runs]
        while runs:
            for run in runs:
                run.fill()
            ends = [run.block[-1] for run in runs if run.has_more]
            taken = [line for run in runs for line in run.take(min(ends) if ends else None)]
            taken.sort()
            yield taken
            runs = [run for run in runs if run.block or run.has_more]

    def clear(self) -> None:
        """Remove all lines."""
        if self._file:
            self._file.truncate(0)
        self._runs, self._buffer, self._characters = [], [], 0

    def close(self) -> None:
        """Close and delete the file."""
        self.clear()
        if self._file:
            self._file.close()
            self._path.unlink(missing_ok=True)
        self._file = None


class _Run:
    """A sorted part of the file, read block by block."""

    def __init__(self, file: BinaryIO, start: int, end: int, size: int) -> None:
        self._file, self._at, self._end, self._size = file, start, end, size
        self.block: list[str] = []

    @property
    def has_more(self) -> bool:
        return self._at < self._end

    def fill(self) -> None:
        """Read the next block if the one before is used up."""
        if self.block or not self.has_more:
            return
        self._file.seek(self._at)
        raw = self._file.read(min(self._size, self._end - self._at))
        if not raw.endswith(b"\n"):
            raw += self._file.readline()
        self._at += len(raw)
        self.block = raw.decode("utf-8", "surrogatepass").split("\n")
        self.block.pop()

    def take(self, bound: str | None) -> list[str]:
        """Remove and return the lines up to the bound, all without one."""
        cut = len(self.block) if bound is None else bisect_right(self.block, bound)
        taken, self.block = self.block[:cut], self.block[cut:]
        return taken
