"""Divide the files of a volume into units, each of which one worker reads for its hashes.

Guaranteed: every file is in one unit; a unit has at most MAX_FILES files, and at most MAX_BYTES bytes or a single file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

MAX_FILES, MAX_BYTES = 1_000, 1_000_000_000


class HashUnit(NamedTuple):
    """The files with the numbers [first_file, last_file]."""

    first_file: int
    last_file: int


def plan_hash_units(
    files: Iterable[tuple[int, int]], max_files: int = MAX_FILES, max_bytes: int = MAX_BYTES
) -> Iterator[HashUnit]:
    """Yield the units of files, which are numbers in order with their sizes."""
    first, last, count, total = 0, 0, 0, 0
    for number, size in files:
        if count and (count == max_files or total + size > max_bytes):
            yield HashUnit(first, last)
            count = total = 0
        first = first if count else number
        last, count, total = number, count + 1, total + size
    if count:
        yield HashUnit(first, last)
