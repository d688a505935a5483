"""What the console packs while it sends it: zipfile and the reader of volumes find in the zip what was packed."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.volumes.inflate import BLOCK_BYTES, EntryReader
from core.volumes.zip_directory import ZipDirectory, read_directory
from core.volumes.zip_names import find_ignored_kind
from core.volumes.zip_records import Read
from tests.support.console.packer import Packer, run_packer

MAX16, MAX32 = 0xFFFF, 0xFFFFFFFF
SEGMENTS = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="/\\:"), min_size=1, max_size=12)
PATHS = (
    st.lists(SEGMENTS.filter(lambda each: each.strip(".")), min_size=1, max_size=4)
    .map("/".join)
    .filter(lambda path: find_ignored_kind(path) is None)
)
FILES = st.dictionaries(PATHS, st.binary(max_size=200), max_size=12)


@pytest.fixture(scope="module")
def packer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Packer]:
    with run_packer(tmp_path_factory.mktemp("packed")) as packer:
        yield packer


def read(path: Path) -> tuple[Read, ZipDirectory]:
    def read_range(start: int, end: int) -> bytes:
        with path.open("rb") as file:
            file.seek(start)
            return file.read(end - start)

    return read_range, read_directory(read_range, path.stat().st_size)


def without_folders(files: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """Return the files whose path is not that of a folder of another one, as in a file system."""
    folders = {path[:at] for path in files for at, character in enumerate(path) if character == "/"}
    return [(path, content) for path, content in files.items() if path not in folders]


@given(files=FILES.filter(bool), cuts=st.lists(st.integers(1, 3000), max_size=5))
def test_both_readers_find_what_was_packed_in_parts(packer: Packer, files: dict[str, bytes], cuts: list[int]) -> None:
    expected = without_folders(files)
    path = packer.pack(expected, cuts)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert sorted((name, archive.read(name)) for name in archive.namelist()) == sorted(expected)
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
    read_range, directory = read(path)
    entries = [
        (entry.path, b"".join(EntryReader(read_range, entry).read_blocks())) for entry in directory.list_entries()
    ]
    assert sorted(entries) == sorted(expected)


def test_the_same_files_make_the_same_bytes_in_any_order(packer: Packer) -> None:
    files = [(f"V/{number:03}.txt", b"x" * number) for number in range(300)]
    assert packer.pack(files).read_bytes() == packer.pack(files[::-1], [100, 20_000]).read_bytes()


@pytest.mark.parametrize("count", [MAX16 - 1, MAX16, 70_000])
def test_more_entries_than_a_zip_had_room_for(packer: Packer, count: int) -> None:
    path = packer.pack([(f"V/{number % 100}/{number}.txt", b"%d" % (number % 7)) for number in range(count)])
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == count
        assert archive.read("V/99/65499.txt") == b"%d" % (65_499 % 7)
    directory = read(path)[1]
    assert directory.files == count
    assert b"PK\x06\x06" in path.read_bytes()[-98:] if count >= MAX16 else b"PK\x06\x06" not in path.read_bytes()[-98:]


@pytest.mark.slow
def test_more_bytes_than_a_zip_had_room_for(packer: Packer) -> None:
    """The largest entry without Zip64, an offset beyond 4 GiB, the smallest entry with Zip64, and one after it.

    Of the zeros of a large entry nothing is written: the archive has a hole there.
    """
    sizes = [MAX32 - 1, 0, MAX32, 5]
    files = [(f"V/{number}.bin", size) for number, size in enumerate(sizes)]
    written, at = [], 0
    for size in sizes:
        end = at + 30 + len("V/0.bin") + size + (20 + 24 if size >= MAX32 else 16)
        written += [[at, min(at + 60, end)], [max(at, end - 60), end]]
        at = end
    path = packer.pack(files, only=[*written, [at - packer.measure(files), 0]])
    with zipfile.ZipFile(path) as archive:
        assert [(info.filename, info.file_size) for info in archive.infolist()] == files
        assert archive.testzip() is None
    read_range, directory = read(path)
    entries = list(directory.list_entries())
    assert [(entry.path, entry.size) for entry in entries] == files
    # The hashes of the large ones would take a minute; zipfile has compared all of their bytes.
    for entry in entries:
        blocks = EntryReader(read_range, entry).read_blocks()
        assert next(blocks, b"") == bytes(min(entry.size, BLOCK_BYTES))
