"""Zips that are hostile or damaged are refused with the code and the entry, before anything of them is used."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import VolumeFailure
from core.volumes.errors import VolumeRefusedError
from core.volumes.inflate import EntryReader
from core.volumes.zip_checks import HashBag, ZipLimits, check_duplicates
from core.volumes.zip_directory import read_directory
from core.volumes.zip_names import MAX_PATH_BYTES, MAX_RAW_BYTES
from core.volumes.zip_records import find_directory
from tests.support.volumes.zip_bytes import (
    DEFLATED,
    DESCRIPTOR,
    ENCRYPTED,
    STORED,
    SYMLINK,
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

GOOD = Entry(b"good.txt", b"good")


def refuse(raw: bytes, limits: ZipLimits | None = None) -> tuple[VolumeFailure, str | None, str]:
    """The code, the entry and the message with which a zip is refused."""
    with pytest.raises(VolumeRefusedError) as refused:
        read_directory(reader(raw), len(raw), None, limits or ZipLimits())
    return VolumeFailure(refused.value.code), refused.value.entry, str(refused.value)


ENTRIES = [
    (Entry(b"x", b"1", flags=ENCRYPTED), VolumeFailure.ZIP_ENCRYPTED),
    (Entry(b"x", b"1", flags=0x40), VolumeFailure.ZIP_ENCRYPTED),
    (Entry(b"x", b"1", flags=0x2000), VolumeFailure.ZIP_ENCRYPTED),
    (Entry(b"x", b"1", method=99), VolumeFailure.ZIP_ENCRYPTED),
    (Entry(b"x", b"/etc/passwd", attributes=SYMLINK), VolumeFailure.ZIP_LINK),
    (Entry(b"x", attributes=0o010644 << 16), VolumeFailure.ZIP_LINK),
    (Entry(b"x", attributes=0o020644 << 16), VolumeFailure.ZIP_LINK),
    *((Entry(b"x", b"1", method=method), VolumeFailure.ZIP_METHOD) for method in (1, 6, 9, 12, 14, 93, 97)),
    (Entry(b"x", b"1", method=STORED, size=2), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"x/", b"1"), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"x", b"1", disk=1), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"x", b"1", size=0xFFFFFFFF, extra=field(1, b"1234567")), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"x", b"1", size=0xFFFFFFFF, extra=field(1, bytes(8)) * 2), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"x", b"1", size=0xFFFFFFFF, extra=b"\1\0\xff\xff"), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"x\xff", flags=UTF8), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"x", b"1", size=100_000_001), VolumeFailure.ZIP_BOMB),
    (Entry(b"x", b"1", compressed_size=10_000), VolumeFailure.ZIP_OVERLAP),
    (Entry(b"x", b"1", size=0xFFFFFFFF, extra=field(1, b"\xff" * 8)), VolumeFailure.ZIP_BOMB),
    (Entry(b"x", b"1", offset=0xFFFFFFFF, extra=field(1, b"\xff" * 8)), VolumeFailure.ZIP_OVERLAP),
]


@pytest.mark.parametrize(("entry", "code"), ENTRIES)
@pytest.mark.parametrize("zip64", [False, True])
def test_an_entry_is_refused_by_its_name(entry: Entry, code: VolumeFailure, zip64: bool) -> None:
    found, name, message = refuse(build_zip([GOOD, entry, GOOD], zip64=zip64))
    assert (found, (name or "")[:1]) == (code, "x")
    assert message.startswith("Entry 'x")


SPOILED = "safe\\".encode("cp437") + b"\x81.txt"
PATHS = [
    *(
        b"../x",
        b"a/../x",
        b"..",
        b"a\\..\\x",
        b"..\\x",
        b"/x",
        b"\\x",
        b"\\\\server\\share\\x",
        b"//server/x",
        b"C:\\x",
    ),
    *(b"C:x", b"c:/x", b"a\x00.txt", b"a\nb", b"a\x7f", b"", b"a" * (MAX_PATH_BYTES + 1), b"./" * MAX_RAW_BYTES + b"x"),
    *(b"__MACOSX/../../x", b"a/\x1b[2J", b"C:", b"../", b"/"),
]


@pytest.mark.parametrize("name", PATHS)
def test_a_name_that_is_no_path_of_a_volume_is_refused(name: bytes) -> None:
    code, entry, message = refuse(build_zip([GOOD, Entry(name)]))
    assert (code, (entry or "")[:4]) == (VolumeFailure.ZIP_PATH, name.decode()[:4])
    assert message.isprintable()


@pytest.mark.parametrize("path", ["../x", "/x", "C:x", "\u0085", "x\x00"])
def test_a_name_in_the_unicode_field_or_in_utf_8_is_checked_too(path: str) -> None:
    extra = unicode_path(SPOILED, path)
    assert refuse(build_zip([GOOD, Entry(SPOILED, extra=extra)]))[:2] == (VolumeFailure.ZIP_PATH, path)
    assert refuse(build_zip([Entry(("é/" + path).encode())] if ".." in path else [Entry(path.encode())]))[0] == (
        VolumeFailure.ZIP_PATH
    )


@pytest.mark.parametrize(
    "names",
    [(b"a.txt", b"b", b"a.txt"), (b"a/b", b"a\\b"), (b"a/b", b"a/./b"), (b"a", b"./a"), (b"a//b", b"a/b")],
)
def test_two_entries_with_one_path_are_refused(names: tuple[bytes, ...]) -> None:
    code, entry, _ = refuse(build_zip([Entry(name) for name in names]))
    assert (code, entry) == (VolumeFailure.ZIP_DUPLICATE, names[0].decode().replace("//", "/"))


def test_folders_and_files_of_systems_may_be_there_twice() -> None:
    raw = build_zip([Entry(name) for name in (b"a/", b"a/", b"a", b".DS_Store", b".DS_Store")])
    assert read_directory(reader(raw), len(raw)).files == 1


def test_equal_hashes_of_different_paths_are_no_duplicates() -> None:
    raw = build_zip([Entry(b"a"), Entry(b"b")])
    hashes = HashBag()
    for path in ("a", "a", "b", "b"):
        hashes.add(path)
    check_duplicates(reader(raw), find_directory(reader(raw), len(raw)), "utf-8", hashes)


def test_a_zip_has_at_most_so_many_entries_and_bytes() -> None:
    raw = build_zip([Entry(b"%d" % number, b"12345") for number in range(3)])
    assert refuse(raw, ZipLimits(entries=2))[:2] == (VolumeFailure.ZIP_TOO_MANY, "2")
    assert refuse(raw, ZipLimits(size=14))[:2] == (VolumeFailure.ZIP_TOO_LARGE, "2")
    assert read_directory(reader(raw), len(raw), None, ZipLimits(entries=3, size=15)).files == 3


@pytest.mark.parametrize("order", [None, (2, 1, 0), (1, 0, 2)])
@pytest.mark.parametrize("back", [0, 1, 30])
def test_entries_that_share_bytes_are_refused(order: tuple[int, ...] | None, back: int) -> None:
    first, last = Entry(b"a", b"1" * 50, method=STORED), Entry(b"c", b"3")
    shared = Entry(b"b", b"2", offset=len(local_part(first)) - 1 - back)
    code, entry, message = refuse(build_zip([first, shared, last], order=order))
    assert code == VolumeFailure.ZIP_OVERLAP
    assert {"a", "b"} == {entry, message.split("also those of ")[1][1]}


def test_a_thousand_entries_of_the_same_bytes_are_refused() -> None:
    kernel = Entry(b"k", b"0" * 1_000)
    body, names = local_part(kernel), [b"%03d" % number for number in range(1_000)]
    headers = b"".join(header(Entry(name, kernel.data), 0) for name in names)
    raw = body + headers + end_of(len(names), len(body), len(headers))
    assert refuse(raw)[0] == VolumeFailure.ZIP_OVERLAP


def test_an_entry_whose_bytes_reach_into_the_directory_is_refused() -> None:
    entry = Entry(b"a", b"1" * 50, method=STORED, offset=20)
    assert refuse(build_zip([entry]))[:2] == (VolumeFailure.ZIP_OVERLAP, "a")


DIRECTORY = build_zip([GOOD, Entry(b"b")])
OTHER = header(Entry(b"other.txt", b"good"), 0)
END = DIRECTORY[-22:]
WITH_ZIP64 = build_zip([GOOD], zip64=True)
ZIP64_AT = len(WITH_ZIP64) - 22 - 20 - 56


def changed(raw: bytes, at: int, new: bytes) -> bytes:
    return raw[:at] + new + raw[at + len(new) :]


BROKEN = [
    *(b"", b"PK", b"PK\5\6", END[:-1], b"not a zip at all" * 10, local_part(GOOD)),
    # Cut off at the end, at the beginning and in the directory; too far before the end of the file.
    *(DIRECTORY[:-1], DIRECTORY[5:], DIRECTORY[:60] + DIRECTORY[61:], DIRECTORY + bytes(65_536)),
    # What is left of a zip that is cut off after an archive in it, which no reader may take for the whole.
    *(build_zip([Entry(b"in.zip", DIRECTORY, method=STORED)])[: 36 + len(DIRECTORY) + cut] for cut in (1, 30, 60)),
    # An end whose comment has another directory and end, and bytes after it.
    build_zip([GOOD], comment=OTHER + end_of(1, len(build_zip([GOOD])), len(OTHER)) + b"\n") + b"\n",
    # A directory that ends too early or too late, with another number of entries, and of an archive in parts.
    *(build_zip([GOOD], count=0), build_zip([GOOD], count=2), build_zip([GOOD], zip64=True, count=2)),
    changed(DIRECTORY, len(DIRECTORY) - 10, pack("<L", 0xFFFFFF)),
    changed(DIRECTORY, len(DIRECTORY) - 10, pack("<L", 40)),
    changed(DIRECTORY, len(DIRECTORY) - 6, pack("<L", 0xFFFFFFFF)),
    changed(DIRECTORY, len(DIRECTORY) - 18, pack("<H", 1)),
    changed(DIRECTORY, len(DIRECTORY) - 14, pack("<H", 1)),
    changed(DIRECTORY, DIRECTORY.rindex(b"PK\1\2") + 28, b"\xff\xff"),
    changed(DIRECTORY, DIRECTORY.rindex(b"PK\1\2"), b"PK\1\3"),
    # Two ends, of which readers could choose either.
    build_zip([GOOD], comment=build_zip([Entry(b"other")])),
    # Zip64 records that are not there, are of another size, or contradict the end.
    changed(WITH_ZIP64, ZIP64_AT, b"XX"),
    changed(WITH_ZIP64, ZIP64_AT + 4, pack("<Q", 45)),
    changed(WITH_ZIP64, ZIP64_AT + 4, pack("<Q", 2**64 - 12)),
    changed(WITH_ZIP64, ZIP64_AT + 40, pack("<Q", 2**64 - 1)),
    changed(WITH_ZIP64, len(WITH_ZIP64) - 14, pack("<2H", 2, 2)),
    changed(WITH_ZIP64, len(WITH_ZIP64) - 38, pack("<L", 1)),
    changed(WITH_ZIP64, len(WITH_ZIP64) - 26, pack("<L", 2)),
    changed(WITH_ZIP64, len(WITH_ZIP64) - 6, pack("<L", 5)),
]


@pytest.mark.parametrize("after", [b"\n", b"\r\n", bytes(100), b"PK", bytes(65_535)])
@pytest.mark.parametrize("zip64", [False, True])
def test_bytes_after_the_end_are_not_read(after: bytes, zip64: bool) -> None:
    inner = Entry(b"in.zip", DIRECTORY, method=STORED)
    for comment in (b"", b"a comment"):
        raw = build_zip([GOOD, inner], zip64=zip64, comment=comment) + after
        if len(comment) + len(after) <= 65_535:
            found = list(read_directory(reader(raw), len(raw)).list_entries())
            assert [entry.path for entry in found] == ["good.txt", "in.zip"]
            assert b"".join(EntryReader(reader(raw), found[1]).read_blocks()) == DIRECTORY
            with zipfile.ZipFile(io.BytesIO(raw)) as oracle:
                assert oracle.namelist() == ["good.txt", "in.zip"]


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        *((b"Rar!\x1a\x07\0", "RAR"), (b"Rar!\x1a\x07\1\0", "RAR"), (b"7z\xbc\xaf\x27\x1c\0\4", "7z")),
        *((b"\x1f\x8b\x08", "gzip"), (bytes(257) + b"ustar\0" + b"00", "tar")),
    ],
)
def test_another_archive_is_named(head: bytes, kind: str) -> None:
    code, _, message = refuse(head + bytes(1_000))
    assert code == VolumeFailure.ZIP_DAMAGED
    assert f"a {kind} archive, not a zip. Unpack it and send the folder" in message


@pytest.mark.parametrize("raw", BROKEN)
def test_a_zip_with_damaged_records_is_refused(raw: bytes) -> None:
    assert refuse(raw)[0] == VolumeFailure.ZIP_DAMAGED


def test_a_storage_that_returns_too_few_bytes_is_noticed() -> None:
    with pytest.raises(VolumeRefusedError, match="fewer bytes"):
        read_directory(lambda start, end: DIRECTORY[start : end - 1], len(DIRECTORY))


PLAIN = build_zip(
    [
        Entry(b"a/b.txt", b"some data " * 20, flags=DESCRIPTOR),
        Entry("é".encode(), b"1234", method=STORED, flags=UTF8, extra=field(1, bytes(8))),
        Entry(b"\xe9", b"x", extra=unicode_path(b"\xe9", "é2")),
    ],
    zip64=True,
)


@given(
    st.lists(st.tuples(st.integers(0, len(PLAIN) - 1), st.integers(0, 255)), min_size=1, max_size=4),
    st.integers(0, len(PLAIN)) | st.just(len(PLAIN)),
)
def test_whatever_happens_to_a_zip_it_is_refused_or_its_files_are_whole(
    changes: list[tuple[int, int]], size: int
) -> None:
    damaged = bytearray(PLAIN)
    for at, byte in changes:
        damaged[at] = byte
    raw = bytes(damaged[:size])
    with suppress(VolumeRefusedError):
        for entry in read_directory(reader(raw), len(raw)).list_entries():
            assert sum(map(len, EntryReader(reader(raw), entry).read_blocks())) == entry.size
            assert entry.method in (STORED, DEFLATED)
