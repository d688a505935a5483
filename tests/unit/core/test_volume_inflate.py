"""Entries of a zip come out whole, with their hashes, or not: no lie of a header gets a byte more than it declares."""

from __future__ import annotations

import hashlib
import tracemalloc
import zlib
from dataclasses import replace
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codes import VolumeFailure
from core.volumes.errors import VolumeRefusedError
from core.volumes.inflate import BLOCK_BYTES, READ_BYTES, STEP_BYTES, EntryReader
from core.volumes.zip_checks import MAX_FREE_BYTES
from core.volumes.zip_directory import ZipEntry, read_directory
from tests.support.volumes.zip_bytes import (
    DEFLATED,
    DESCRIPTOR,
    ENCRYPTED,
    STORED,
    Entry,
    build_zip,
    deflate,
    local_part,
    reader,
)

DATA = b"some text of a document " * 100
# What compresses so well that one step of input is several blocks of output, and what does not.
SHAPES = st.sampled_from([bytes(2 * BLOCK_BYTES + 7), bytes(BLOCK_BYTES), DATA]) | st.binary()


def first_entry(raw: bytes) -> ZipEntry:
    return next(read_directory(reader(raw), len(raw)).list_entries())


def take(raw: bytes, entry: ZipEntry | None = None) -> bytes:
    return b"".join(EntryReader(reader(raw), entry or first_entry(raw)).read_blocks())


def refuse(raw: bytes, entry: ZipEntry | None = None) -> VolumeFailure:
    with pytest.raises(VolumeRefusedError) as refused:
        take(raw, entry)
    assert refused.value.entry == "a"
    return VolumeFailure(refused.value.code)


@given(SHAPES, st.sampled_from([STORED, DEFLATED]), st.sampled_from([0, DESCRIPTOR]), st.binary(max_size=9))
def test_the_bytes_and_all_three_hashes_come_back(data: bytes, method: int, flags: int, extra: bytes) -> None:
    raw = build_zip([Entry(b"a", data, method=method, flags=flags, local_extra=extra), Entry(b"b", b"1")])
    entry = EntryReader(reader(raw), first_entry(raw))
    assert entry.hashes is None
    blocks = list(entry.read_blocks())
    assert b"".join(blocks) == data
    assert all(0 < len(block) <= BLOCK_BYTES for block in blocks)
    assert entry.hashes == tuple(hashlib.new(name, data).hexdigest() for name in ("md5", "sha1", "sha256"))


LIES = [
    # Fewer and more bytes than declared, a wrong CRC-32, damaged, cut off and followed by other bytes.
    (Entry(b"a", DATA, size=len(DATA) + 1), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", DATA, size=len(DATA) - 1), VolumeFailure.ZIP_BOMB),
    (Entry(b"a", DATA, size=0), VolumeFailure.ZIP_BOMB),
    (Entry(b"a", DATA, crc32=1), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", DATA, method=STORED, crc32=1), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", DATA, packed=b"\xff" * 50), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", DATA, packed=deflate(DATA)[:-5]), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", DATA, packed=deflate(DATA) + b"x"), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", DATA, packed=deflate(DATA) + bytes(300_000)), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", b"", packed=b""), VolumeFailure.ZIP_DAMAGED),
    # Another name, method or flag in the local header than in the directory.
    (Entry(b"a", DATA, local_name=b"b"), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", DATA, local_name=b"ab"), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", DATA, local_method=STORED), VolumeFailure.ZIP_DAMAGED),
    (Entry(b"a", DATA, local_flags=ENCRYPTED), VolumeFailure.ZIP_DAMAGED),
]


@pytest.mark.parametrize(("entry", "code"), LIES)
def test_an_entry_that_is_not_what_the_directory_says_is_refused(entry: Entry, code: VolumeFailure) -> None:
    assert refuse(build_zip([entry, Entry(b"c", b"1" * 100)])) == code


def test_an_entry_whose_place_is_wrong_is_refused() -> None:
    raw = build_zip([Entry(b"a", DATA)])
    with pytest.raises(VolumeRefusedError, match="wrong place"):
        take(b"PK\3\5" + raw[4:])
    with pytest.raises(VolumeRefusedError, match="wrong place"):
        take(b"12345678" + raw, first_entry(raw)._replace(offset=4))
    with pytest.raises(VolumeRefusedError, match="another name"):
        take(build_zip([Entry(b"a", DATA, local_name=b"ab")]))


def test_bytes_after_the_end_are_noticed_wherever_the_compressed_ones_end() -> None:
    # Two blocks that are not compressed, with five bytes before each, as many as are expanded in one step.
    size = STEP_BYTES // 2 - 5
    head = pack("<HH", size, size ^ 0xFFFF)
    packed = b"\0" + head + bytes(size) + b"\1" + head + bytes(size)
    entry = Entry(b"a", bytes(2 * size), packed=packed)
    assert take(build_zip([entry])) == entry.data
    assert refuse(build_zip([replace(entry, packed=packed + b"x")])) == VolumeFailure.ZIP_DAMAGED


def test_a_local_header_that_moves_the_bytes_into_the_next_entry_is_refused() -> None:
    raw = build_zip([Entry(b"a", DATA, method=STORED), Entry(b"b", b"1")])
    at = 28
    assert refuse(raw[:at] + b"\1\0" + raw[at + 2 :]) == VolumeFailure.ZIP_OVERLAP


def test_a_bomb_that_lies_about_its_size_gives_out_no_more_than_it_declares() -> None:
    raw = build_zip([Entry(b"a", bytes(30_000_000), size=2 * BLOCK_BYTES)])
    blocks = EntryReader(reader(raw), first_entry(raw)).read_blocks()
    taken = [next(blocks), next(blocks)]
    with pytest.raises(VolumeRefusedError, match="'a': it has more bytes than the 2,000,000"):
        next(blocks)
    assert sum(map(len, taken)) == 2 * BLOCK_BYTES


def test_a_bomb_that_tells_the_truth_is_refused_by_its_output() -> None:
    size = MAX_FREE_BYTES + BLOCK_BYTES
    packer = zlib.compressobj(1, wbits=-15)
    packed = b"".join(packer.compress(bytes(BLOCK_BYTES)) for _ in range(size // BLOCK_BYTES)) + packer.flush()
    assert len(packed) * 200 < MAX_FREE_BYTES
    raw = local_part(Entry(b"a", packed=packed))
    entry = ZipEntry("a", b"a", 0, len(raw), len(packed), size, 0, DEFLATED, 0)
    sizes: list[int] = []
    with pytest.raises(VolumeRefusedError, match="more than 200 times") as refused:
        sizes.extend(map(len, EntryReader(reader(raw), entry).read_blocks()))
    assert refused.value.code == VolumeFailure.ZIP_BOMB
    assert MAX_FREE_BYTES - BLOCK_BYTES < sum(sizes) <= MAX_FREE_BYTES


@pytest.mark.parametrize("method", [STORED, DEFLATED])
def test_memory_does_not_grow_with_the_entry(method: int) -> None:
    raw = build_zip([Entry(b"a", bytes(10 * BLOCK_BYTES) if method == DEFLATED else bytes(20_000_000), method=method)])
    entry = first_entry(raw)
    tracemalloc.start()
    try:
        sizes = [len(block) for block in EntryReader(reader(raw), entry).read_blocks()]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sum(sizes) == entry.size
    assert peak < 2 * READ_BYTES + 3 * BLOCK_BYTES
