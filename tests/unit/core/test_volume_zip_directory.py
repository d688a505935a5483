"""The directory of a zip: what Python's zipfile writes is read as zipfile reads it, and names are what they were."""

from __future__ import annotations

import io
import random
import zipfile
import zlib
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import VolumeFailure
from core.errors import InvalidInputError
from core.volumes.errors import VolumeRefusedError
from core.volumes.inflate import EntryReader
from core.volumes.zip_checks import ZipLimits
from core.volumes.zip_directory import UNIT_BYTES, UNIT_ENTRIES, ZipDirectory, ZipEntry, plan_units, read_directory
from core.volumes.zip_names import find_ignored_kind
from core.volumes.zip_records import BLOCK_BYTES
from tests.support.volumes.zip_bytes import (
    DESCRIPTOR,
    STORED,
    UTF8,
    Entry,
    build_zip,
    end_of,
    field,
    header,
    local_part,
    reader,
    unicode_path,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer


def read(raw: bytes, zip_names: str | None = None, limits: ZipLimits | None = None) -> ZipDirectory:
    return read_directory(reader(raw), len(raw), zip_names, limits or ZipLimits())


def expand(raw: bytes, zip_names: str | None = None) -> list[tuple[str, bytes]]:
    entries = read(raw, zip_names).list_entries()
    return [(entry.path, b"".join(EntryReader(reader(raw), entry).read_blocks())) for entry in entries]


class Unseekable(io.RawIOBase):
    """A stream as of a pipe: zipfile then writes data descriptors."""

    def __init__(self) -> None:
        self.raw = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, block: Buffer) -> int:
        self.raw += memoryview(block)
        return memoryview(block).nbytes


def make_zip(files: dict[str, bytes], *, method: int, streamed: bool, zip64: bool, comment: bytes) -> bytes:
    """What Python writes for these files."""
    target: io.BytesIO | Unseekable = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as written:
        written.comment = comment
        for name, data in files.items():
            with written.open(name, "w", force_zip64=zip64) as file:
                file.write(data)
    return bytes(target.raw) if isinstance(target, Unseekable) else target.getvalue()


def is_path(segments: list[str]) -> bool:
    drive = segments[0][1:2] == ":" and segments[0][0].isascii() and segments[0][0].isalpha()
    return not drive and not {".", ".."} & set(segments) and find_ignored_kind("/".join(segments)) is None


SEGMENT = st.text(st.characters(exclude_characters="/\\\x7f", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=9)
PATHS = st.lists(SEGMENT | st.sampled_from(["A", "a", "e\u0301", "\u00e9"]), min_size=1, max_size=3).filter(is_path)
FILES = st.dictionaries(PATHS.map("/".join), st.binary() | st.sampled_from([b"", b"a" * 70_000]), max_size=6)


@given(
    FILES,
    st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([b"", b"a comment"]),
    st.sampled_from([b"", b"MZ", bytes(100)]),
)
def test_what_zipfile_writes_comes_back(
    files: dict[str, bytes], method: int, streamed: bool, zip64: bool, comment: bytes, before: bytes
) -> None:
    raw = before + make_zip(files, method=method, streamed=streamed, zip64=zip64, comment=comment)
    assert expand(raw) == list(files.items())
    with zipfile.ZipFile(io.BytesIO(raw)) as oracle:
        expected = [(info.CRC, info.file_size, info.compress_size) for info in oracle.infolist()]
        offsets = [info.header_offset for info in oracle.infolist()]
    entries = list(read(raw).list_entries())
    assert [(entry.crc32, entry.size, entry.compressed_size) for entry in entries] == expected
    assert [entry.offset for entry in entries] == offsets


@given(FILES.filter(bool), st.randoms(use_true_random=False), st.integers(1, 4))
def test_the_order_of_the_directory_makes_no_difference(
    files: dict[str, bytes], chance: random.Random, window: int
) -> None:
    entries = [Entry(name.encode(), data, flags=UTF8) for name, data in files.items()]
    order = chance.sample(range(len(entries)), len(entries))
    raw = build_zip(entries, order=order)
    found = list(read(raw, limits=ZipLimits(window_entries=window)).list_entries())
    assert found == list(read(build_zip(entries)).list_entries())
    assert [entry.path for entry in found] == list(files)
    assert all(one.limit == other.offset for one, other in pairwise(found))


CP437, CP932 = "Größe.txt".encode("cp437"), "契約書\\表.txt".encode("cp932")
NAMES: list[tuple[Entry, str | None, str]] = [
    (Entry("Größe.txt".encode(), flags=UTF8), "cp1252", "Größe.txt"),
    (Entry("Größe.txt".encode()), None, "Größe.txt"),
    (Entry(CP437), None, "Größe.txt"),
    (Entry(CP437), "cp1252", CP437.decode("cp1252")),
    (Entry(CP932), "cp932", "契約書/表.txt"),
    (Entry(CP437, extra=unicode_path(CP437, "Größe 😀.txt")), "cp1252", "Größe 😀.txt"),
    (Entry(CP437, extra=field(1, b"") + unicode_path(CP437, "x")), None, "x"),
    (Entry(b"__.txt", extra=unicode_path(b"__.txt", "日本.txt")), None, "日本.txt"),
    (Entry(CP437, extra=unicode_path(b"other", "x")), None, "Größe.txt"),
    (Entry(CP437, extra=unicode_path(CP437, "x", version=2)), None, "Größe.txt"),
    (Entry(CP437, extra=unicode_path(CP437, "x")[:-1]), None, "Größe.txt"),
    (Entry("Größe".encode(), flags=UTF8, extra=unicode_path("Größe".encode(), "x")), None, "Größe"),
    (Entry(rb"VOL001\.\DATA\\x.dat"), None, "VOL001/DATA/x.dat"),
    (Entry(b"./VOL001//x.dat"), None, "VOL001/x.dat"),
    (Entry(b"a. /b..c/...x"), None, "a. /b..c/...x"),
]


@pytest.mark.parametrize(("entry", "zip_names", "path"), NAMES)
def test_a_name_is_decoded_by_its_own_rule(entry: Entry, zip_names: str | None, path: str) -> None:
    (found,) = read(build_zip([entry]), zip_names).list_entries()
    assert (found.path, found.raw_name) == (path, entry.name)
    assert expand(build_zip([entry]), zip_names) == [(path, b"")]


def test_names_are_cp437_if_one_of_them_is_not_utf_8() -> None:
    utf8 = Entry("é".encode())
    assert [path for path, _ in expand(build_zip([utf8, Entry(b"a")]))] == ["é", "a"]
    assert [path for path, _ in expand(build_zip([utf8, Entry(CP437)]))] == ["é".encode().decode("cp437"), "Größe.txt"]
    assert read(build_zip([utf8, Entry(CP437)])).names_encoding == "cp437"


def test_an_encoding_that_is_not_supported_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="zipNames"):
        read(build_zip([]), "utf-16")


def test_folders_and_files_of_systems_are_counted_and_can_be_listed() -> None:
    names = (b"V/", b"V/N/", b"V/N/a.doc", b"V/.DS_Store", b"V/N/THUMBS.DB", b"Desktop.ini", b"__MACOSX/V/._a.doc")
    directory = read(build_zip([Entry(name) for name in (*names, b"__MACOSX/", b"./")]))
    expected = {"folders": 3, ".DS_Store": 1, "Thumbs.db": 1, "desktop.ini": 1, "__MACOSX/": 2}
    assert (directory.files, directory.ignored) == (1, expected)
    assert [entry.path for entry in directory.list_entries()] == ["V/N/a.doc"]
    ignored = [entry.path for entry in directory.list_entries(ignored=True)]
    assert ignored == ["V/.DS_Store", "V/N/THUMBS.DB", "Desktop.ini", "__MACOSX/V/._a.doc"]


def test_paths_that_differ_in_case_or_composition_are_counted_and_kept() -> None:
    names = ["A.doc", "a.doc", "a.DOC", "e\u0301", "\u00e9", "b"]
    directory = read(build_zip([Entry(name.encode()) for name in names]))
    assert (directory.similar_paths, directory.files) == (3, 6)
    assert [entry.path for entry in directory.list_entries()] == names


def test_a_comment_may_hold_the_signature_of_an_end() -> None:
    assert expand(build_zip([Entry(b"a", b"1")], comment=b"PK\x05\x06 a comment of some length")) == [("a", b"1")]


def test_an_empty_zip_has_no_entries() -> None:
    directory = read(build_zip([]))
    assert (directory.files, list(directory.list_entries()), list(plan_units([]))) == (0, [], [])


def test_a_data_descriptor_leaves_the_sizes_to_the_directory() -> None:
    entries = [Entry(name, b"data " * 99, flags=DESCRIPTOR) for name in (b"a", b"b")]
    assert expand(build_zip(entries)) == [("a", b"data " * 99), ("b", b"data " * 99)]


@pytest.mark.parametrize(
    ("zip64", "count"), [(False, 65_540), (True, 65_540), (False, 65_535), (False, 5), (True, 65_535), (False, 65_534)]
)
def test_more_entries_than_16_bits_are_read_with_and_without_zip64(zip64: bool, count: int) -> None:
    part, head = local_part(Entry(b"00000", method=STORED)), header(Entry(b"00000", method=STORED), 0)
    names, offset_at = [b"%05d" % number for number in range(65_540)], len(head) - 9
    body = b"".join(part[:-5] + name for name in names)
    headers = b"".join(
        head[:offset_at] + (number * len(part)).to_bytes(4, "little") + name for number, name in enumerate(names)
    )
    raw = body + headers + end_of(count, len(body), len(headers), zip64=zip64)
    # Without Zip64 some programs count modulo 65,536, and others stop at 65,535.
    if count == len(names) or (count == 65_535 and not zip64):
        with zipfile.ZipFile(io.BytesIO(raw)) as oracle:
            assert read(raw).files == len(oracle.namelist()) == 65_540
    else:
        with pytest.raises(VolumeRefusedError, match="65,540 entries"):
            read(raw)


def archive_of(size: int, pieces: dict[int, bytes]) -> Callable[[int, int], bytes]:
    """A file of this many bytes, all zero but for these pieces."""

    def read_pieces(start: int, end: int) -> bytes:
        assert 0 <= start <= end <= size
        raw = bytearray(end - start)
        for at, piece in pieces.items():
            low, high = max(start, at), min(end, at + len(piece))
            if low < high:
                raw[low - start : high - start] = piece[low - at : high - at]
        return bytes(raw)

    return read_pieces


def test_places_and_sizes_over_32_bits_are_in_the_zip64_field() -> None:
    large, top = 5 * 2**30, 0xFFFFFFFF
    sizes = large.to_bytes(8, "little") * 2
    first = Entry(b"large", method=STORED, size=top, compressed_size=top, extra=field(9, b"x") + field(1, sizes))
    start = 30 + 5 + large
    second = Entry(b"small", b"data", offset=top, extra=field(1, start.to_bytes(8, "little")))
    part = local_part(second)
    headers = header(first, 0) + header(second, 0)
    tail = headers + end_of(2, start + len(part), len(headers), zip64=True)
    pieces = {0: local_part(Entry(b"large", method=STORED)), start: part, start + len(part): tail}
    size = start + len(part) + len(tail)
    directory = read_directory(archive_of(size, pieces), size)
    entries = list(directory.list_entries())
    assert [(entry.offset, entry.limit, entry.size) for entry in entries] == [
        (0, start, large),
        (start, start + len(part), 4),
    ]
    assert list(EntryReader(archive_of(size, pieces), entries[1]).read_blocks()) == [b"data"]
    with pytest.raises(VolumeRefusedError, match="'small'") as refused:
        read_directory(archive_of(size, pieces), size, None, ZipLimits(size=large))
    assert refused.value.code == VolumeFailure.ZIP_TOO_LARGE


def test_the_directory_is_read_in_blocks_of_a_bounded_size() -> None:
    comment = b"c" * 60_000
    raw = build_zip([Entry(b"%d" % number, method=STORED, comment=comment) for number in range(150)])
    reads: list[int] = []

    def counting(start: int, end: int) -> bytes:
        reads.append(end - start)
        return raw[start:end]

    assert read_directory(counting, len(raw)).files == 150
    assert len(reads) > 2
    assert max(reads) <= BLOCK_BYTES


def entry_of(number: int, compressed_size: int) -> ZipEntry:
    return ZipEntry(str(number), b"", number, number + 1, compressed_size, 0, 0, STORED, 0)


@given(st.lists(st.sampled_from([0, 1, UNIT_BYTES // 3, UNIT_BYTES - 1, UNIT_BYTES, UNIT_BYTES + 1]), max_size=40))
def test_units_are_bounded_and_have_every_entry_once_in_order(sizes: list[int]) -> None:
    entries = [entry_of(number, size) for number, size in enumerate(sizes)]
    units = list(plan_units(entries))
    assert [entry for unit in units for entry in unit.entries] == entries
    assert [unit.number for unit in units] == list(range(len(units)))
    assert all(unit.compressed_size <= UNIT_BYTES or len(unit.entries) == 1 for unit in units)
    # None could take the first entry of the next one.
    assert all(one.compressed_size + other.entries[0].compressed_size > UNIT_BYTES for one, other in pairwise(units))


def test_a_unit_has_at_most_a_thousand_entries() -> None:
    units = plan_units(entry_of(number, 1) for number in range(2 * UNIT_ENTRIES + 1))
    assert [len(unit.entries) for unit in units] == [UNIT_ENTRIES, UNIT_ENTRIES, 1]


def test_the_directory_says_what_is_to_be_expanded() -> None:
    raw = build_zip([Entry(b"a", b"12345"), Entry(b"b/", b""), Entry(b".DS_Store", b"123")])
    directory = read(raw)
    assert (directory.files, directory.size, directory.names_encoding) == (1, 5, "utf-8")
    assert next(directory.list_entries()).crc32 == zlib.crc32(b"12345")
