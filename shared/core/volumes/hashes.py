"""Compare the hashes that a load file states with those of the files.

Guaranteed: a stated hash is a cell that has nothing but an MD5, SHA-1 or SHA-256 in hexadecimal, by its length, in
a column of hashes of the native. Every one of a row is compared, in any case. Not guaranteed: that a mismatch is a
damaged file, because the hash of an e-mail often covers some of its fields instead of the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from core.load_file.native_hashes import find_hash_columns, read_hash

ALGORITHMS = {32: "md5", 40: "sha1", 64: "sha256"}


class FileHashes(NamedTuple):
    """The hashes of a file, in hexadecimal with small letters; None for one that was not computed."""

    md5: str | None = None
    sha1: str | None = None
    sha256: str | None = None


class StatedHash(NamedTuple):
    """A hash in a cell of a row: the index of its column, the name of the algorithm, and the hash."""

    column: int
    algorithm: str
    value: str


class FileHasher:
    """The three hashes of a file that is read in blocks."""

    def __init__(self) -> None:
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._sha1 = hashlib.sha1(usedforsecurity=False)
        self._sha256 = hashlib.sha256()

    def update(self, block: bytes) -> None:
        """Add the next bytes."""
        self._md5.update(block)
        self._sha1.update(block)
        self._sha256.update(block)

    def finish(self) -> FileHashes:
        """Return the hashes of the bytes so far."""
        return FileHashes(self._md5.hexdigest(), self._sha1.hexdigest(), self._sha256.hexdigest())


def read_stated_hashes(cells: Sequence[str], columns: Iterable[int]) -> list[StatedHash]:
    """Return the hashes of a row; `columns` are those of `find_hash_columns`. Other cells than hashes are left out."""
    read = ((column, read_hash(cells[column])) for column in columns)
    return [StatedHash(column, ALGORITHMS[len(value)], value) for column, value in read if value]


def find_mismatches(stated: Iterable[StatedHash], hashes: FileHashes) -> list[StatedHash]:
    """Return the stated hashes that are not the file's. One whose algorithm was not computed is not compared."""
    computed = hashes._asdict()
    return [each for each in stated if computed[each.algorithm] not in (None, each.value)]


def find_uncompared(stated: Iterable[StatedHash], hashes: FileHashes) -> list[StatedHash]:
    """Return the stated hashes that cannot be compared: their algorithm was not computed for the file."""
    computed = hashes._asdict()
    return [each for each in stated if computed[each.algorithm] is None]


def list_uncompared(names: Sequence[str], fields: Sequence[str | None]) -> dict[str, str]:
    """Return the columns of hashes by the name of the count of those that were not compared."""
    return {name_uncompared(column): names[column] for column in find_hash_columns(names, fields)}


def name_uncompared(column: int) -> str:
    """Return the name of the count of hashes of this column that were not compared."""
    return f"hashes_not_compared_{column}"
