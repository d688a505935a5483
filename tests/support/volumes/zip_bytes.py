"""Zips written by hand, byte by byte, so that each field can be wrong; records as in PKWARE's APPNOTE.TXT 6.3.10."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from struct import pack

UTF8, DESCRIPTOR, ENCRYPTED = 0x800, 0x8, 0x1
STORED, DEFLATED = 0, 8
SYMLINK, FILE = 0o120777 << 16, 0o100644 << 16


@dataclass(frozen=True)
class Entry:
    """An entry with its bytes. What is None follows from the others, in the directory as in the local header."""

    name: bytes
    data: bytes = b""
    method: int = DEFLATED
    flags: int = 0
    attributes: int = FILE
    extra: bytes = b""
    local_extra: bytes = b""
    comment: bytes = b""
    packed: bytes | None = None
    crc32: int | None = None
    size: int | None = None
    compressed_size: int | None = None
    offset: int | None = None
    disk: int = 0
    local_name: bytes | None = None
    local_method: int | None = None
    local_flags: int | None = None

    @property
    def compressed(self) -> bytes:
        if self.packed is not None:
            return self.packed
        return deflate(self.data) if self.method == DEFLATED else self.data


def deflate(data: bytes) -> bytes:
    """The data as a raw deflate stream."""
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def field(kind: int, data: bytes) -> bytes:
    """An extra field."""
    return pack("<HH", kind, len(data)) + data


def unicode_path(raw: bytes, name: str, version: int = 1) -> bytes:
    """Info-ZIP's field with the name in UTF-8, of an entry with this raw name."""
    return field(0x7075, pack("<BL", version, zlib.crc32(raw)) + name.encode())


def local_part(entry: Entry) -> bytes:
    """The local header and the bytes of an entry; with DESCRIPTOR its sizes come after them."""
    name = entry.name if entry.local_name is None else entry.local_name
    flags = entry.flags if entry.local_flags is None else entry.local_flags
    method = entry.method if entry.local_method is None else entry.local_method
    sums = pack("<3L", zlib.crc32(entry.data), len(entry.compressed), len(entry.data))
    streamed = flags & DESCRIPTOR
    head = pack("<4s5H", b"PK\3\4", 20, flags, method, 0, 0) + (bytes(12) if streamed else sums)
    head += pack("<2H", len(name), len(entry.local_extra)) + name + entry.local_extra
    return head + entry.compressed + (b"PK\7\x08" + sums if streamed else b"")


def header(entry: Entry, offset: int) -> bytes:
    """The entry of the central directory."""
    crc = zlib.crc32(entry.data) if entry.crc32 is None else entry.crc32
    compressed = len(entry.compressed) if entry.compressed_size is None else entry.compressed_size
    size = len(entry.data) if entry.size is None else entry.size
    place = offset if entry.offset is None else entry.offset
    head = pack("<4s6H", b"PK\1\2", 0x314, 20, entry.flags, entry.method, 0, 0)
    lengths = (len(entry.name), len(entry.extra), len(entry.comment))
    head += pack("<3L5H2L", crc, compressed, size, *lengths, entry.disk, 0, entry.attributes, place)
    return head + entry.name + entry.extra + entry.comment


def end_of(entries: int, start: int, size: int, *, comment: bytes = b"", zip64: bool = False) -> bytes:
    """The records at the end of a zip whose directory has this many entries and bytes from `start` on."""
    if not zip64:
        return (
            pack("<4s4H2LH", b"PK\5\6", 0, 0, entries & 0xFFFF, entries & 0xFFFF, size, start, len(comment)) + comment
        )
    record = pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, entries, entries, size, start)
    locator = pack("<4sLQL", b"PK\6\7", 0, start + size, 1)
    end = pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, len(comment))
    return record + locator + end + comment


def build_zip(
    entries: Sequence[Entry],
    *,
    before: bytes = b"",
    comment: bytes = b"",
    zip64: bool = False,
    count: int | None = None,
    order: Iterable[int] | None = None,
) -> bytes:
    """A zip of the entries; `order` is that of the directory, `before` is put before all and counted by no offset."""
    body, offsets = bytearray(), []
    for entry in entries:
        offsets.append(len(body))
        body += local_part(entry)
    directory = b"".join(header(entries[index], offsets[index]) for index in order or range(len(entries)))
    total = len(entries) if count is None else count
    return before + body + directory + end_of(total, len(body), len(directory), comment=comment, zip64=zip64)


def reader(raw: bytes) -> Callable[[int, int], bytes]:
    """A read callable of these bytes."""
    return lambda start, end: raw[start:end]
