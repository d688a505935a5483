"""Hashes that rows state, and the set of the files that rows refer to."""

from __future__ import annotations

import hashlib
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.load_file.native_hashes import find_hash_columns
from core.volumes.hashes import FileHasher, FileHashes, StatedHash, find_mismatches, read_stated_hashes
from core.volumes.referenced import ReferencedFiles

MD5, SHA1, SHA256 = (hashlib.new(name, b"data").hexdigest() for name in ("md5", "sha1", "sha256"))
HASHES = FileHashes(MD5, SHA1, SHA256)


def test_the_columns_of_hashes_are_those_of_the_native() -> None:
    names = ["Doc ID", "MD5 Hash", "SHA-1", "SHA256", "File Hash", "Parent Hash", "E-mail MD5", "Hash"]
    fields = ["control_number", *(None,) * 6, "title"]
    assert find_hash_columns(names, fields) == (3, 2, 1, 4)


def test_a_hash_is_recognised_by_its_length_whatever_its_column_is_called() -> None:
    cells = [f" {MD5.upper()}\t", SHA1, SHA256, "", "n/a", MD5[:-1], MD5 + "g"]
    assert read_stated_hashes(cells, range(7)) == [
        StatedHash(0, "md5", MD5),
        StatedHash(1, "sha1", SHA1),
        StatedHash(2, "sha256", SHA256),
    ]


def test_every_stated_hash_is_compared() -> None:
    right, wrong = StatedHash(0, "md5", MD5), StatedHash(1, "sha1", "0" * 40)
    assert find_mismatches([right, wrong, StatedHash(2, "sha256", SHA256)], HASHES) == [wrong]
    assert find_mismatches([wrong], HASHES._replace(sha1=None)) == []


@given(st.lists(st.binary()))
def test_hashes_are_those_of_all_blocks(blocks: list[bytes]) -> None:
    hasher = FileHasher()
    for block in blocks:
        hasher.update(block)
    data = b"".join(blocks)
    assert hasher.finish() == tuple(hashlib.new(name, data).hexdigest() for name in ("md5", "sha1", "sha256"))


NUMBERS = st.sets(st.integers(0, 100) | st.integers(32_700, 32_800))


def members(files: ReferencedFiles, limit: int = 40_000) -> set[int]:
    return set(range(limit)) - set(files.list_missing(limit))


@given(st.lists(NUMBERS, min_size=1), st.sampled_from([0, 1, 7, 8, 9, 101, 32_768, 40_000]))
def test_united_sets_have_the_files_of_all(sets: list[set[int]], limit: int) -> None:
    united = ReferencedFiles()
    for numbers in sets:
        united.unite(ReferencedFiles.from_bytes(ReferencedFiles(numbers).to_bytes()))
        united.unite(ReferencedFiles(numbers))
    expected = set().union(*sets)
    assert members(united) == expected
    assert len(united) == len(expected)
    assert all(number in united for number in expected)
    assert list(united.list_missing(limit)) == sorted(set(range(limit)) - expected)


def test_numbers_that_are_not_in_the_set_are_not_in_it() -> None:
    files = ReferencedFiles([3])
    assert [number for number in (-8, -5, -1, 0, 2, 3, 4, 11, 10**9) if number in files] == [3]


def test_what_is_not_a_set_of_files_is_refused() -> None:
    with pytest.raises(ValueError, match="not a set"):
        ReferencedFiles.from_bytes(b"other")
    with pytest.raises(ValueError, match="negative"):
        ReferencedFiles([-1])


def test_missing_files_are_listed_in_bounded_memory_and_few_files_take_few_bytes() -> None:
    files = ReferencedFiles([0, 199_999])
    assert len(files.to_bytes()) < 200
    tracemalloc.start()
    try:
        assert sum(1 for _ in files.list_missing(200_000)) == 199_998
        assert tracemalloc.get_traced_memory()[1] < 20_000
    finally:
        tracemalloc.stop()
