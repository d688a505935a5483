"""The records of a zip with stored entries and data descriptors, names in UTF-8, Zip64 where a count, a size or an
offset needs it (PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16 and 4.5.3). Times are left out.
"""

from __future__ import annotations

import struct

MAX16, MAX32 = 0xFFFF, 0xFFFFFFFF
# Bit 3: sizes and CRC follow the data. Bit 11: the name is UTF-8.
_FLAGS = 0x0808
# 1980-01-01, the first day that there is.
_DATE = 0x21
_PLAIN, _ZIP64 = 20, 45


def make_header(name: bytes, size: int) -> bytes:
    """Return the local header of an entry."""
    is_large = size >= MAX32
    stated, extra = (MAX32, struct.pack("<HHQQ", 1, 16, 0, 0)) if is_large else (0, b"")
    version = _ZIP64 if is_large else _PLAIN
    fixed = (0x04034B50, version, _FLAGS, 0, 0, _DATE, 0, stated, stated, len(name), len(extra))
    return struct.pack("<IHHHHHIIIHH", *fixed) + name + extra


def make_descriptor(size: int, crc: int) -> bytes:
    """Return what follows the data of an entry."""
    return struct.pack("<IIQQ" if size >= MAX32 else "<IIII", 0x08074B50, crc, size, size)


def measure_entry(name: bytes, size: int) -> int:
    """Return the bytes of header, data and descriptor."""
    return len(name) + size + (30 + 20 + 24 if size >= MAX32 else 30 + 16)


def measure_directory_entry(name: bytes, size: int, offset: int) -> int:
    """Return the bytes of the entry of the directory."""
    extra = (16 if size >= MAX32 else 0) + (8 if offset >= MAX32 else 0)
    return 46 + len(name) + (extra + 4 if extra else 0)


def make_directory_entry(name: bytes, size: int, offset: int, crc: int) -> bytes:
    """Return the entry of the directory."""
    large = ([size, size] if size >= MAX32 else []) + ([offset] if offset >= MAX32 else [])
    extra = struct.pack(f"<HH{len(large)}Q", 1, 8 * len(large), *large) if large else b""
    version, stated = _ZIP64 if large else _PLAIN, min(size, MAX32)
    fixed = (0x02014B50, version, version, _FLAGS, 0, 0, _DATE, crc, stated, stated, len(name), len(extra))
    return struct.pack("<IHHHHHHIIIHHHHHII", *fixed, 0, 0, 0, 0, min(offset, MAX32)) + name + extra


def make_end(count: int, start: int, size: int) -> bytes:
    """Return the end of a zip whose directory begins at `start` and has `size` bytes."""
    end = b""
    if needs_zip64(count, start, size):
        end = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, _ZIP64, _ZIP64, 0, 0, count, count, size, start)
        end += struct.pack("<IIQI", 0x07064B50, 0, start + size, 1)
    entries = min(count, MAX16)
    return end + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, entries, entries, min(size, MAX32), min(start, MAX32), 0)


def needs_zip64(count: int, start: int, size: int) -> bool:
    """Return whether the end of a zip has the records of Zip64."""
    return count >= MAX16 or size >= MAX32 or start >= MAX32
