"""Count the pages of a TIFF file: its image file directories, which form a chain (TIFF 6.0, section 2; BigTIFF).

Guaranteed: only the header and the directories are read, and a chain that leaves the file or returns to an earlier
directory is refused. Thumbnails in the chain count as pages, as viewers show them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Literal, NamedTuple

MAX_DIRECTORIES = 100_000
_SIGNATURES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")
Read = Callable[[int, int], bytes]


class _Form(NamedTuple):
    """The byte order and the formats and sizes of a directory's count, entries and offsets."""

    order: Literal["<", ">"]
    number: str
    entry: int
    offset: str

    def unpack(self, kind: str, data: bytes) -> int:
        try:
            return int(struct.unpack(self.order + kind, data)[0])
        except struct.error as exc:
            raise ValueError("the TIFF file ends within its directories") from exc


def is_tiff(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is a TIFF file."""
    return head.startswith(_SIGNATURES)


def count_tiff_pages(read: Read) -> int:
    """Return the number of directories; `read(start, end)` returns the bytes from `start` to `end`.

    Raises ValueError for a file that is damaged or has more than 100,000 directories.
    """
    head = read(0, 16)
    is_big = head[2:4] in (b"+\0", b"\0+")
    form = _Form("<" if head.startswith(b"II") else ">", *(("Q", 20, "Q") if is_big else ("H", 12, "I")))
    width = struct.calcsize(form.offset)
    offset, seen = form.unpack(form.offset, head[8:16] if is_big else head[4:8]), set[int]()
    while offset:
        if offset in seen or len(seen) == MAX_DIRECTORIES:
            raise ValueError("the directories of the TIFF file form a circle, or are too many")
        seen.add(offset)
        offset = _read_next(read, form, offset, width)
    if not seen:
        raise ValueError("the TIFF file has no directory")
    return len(seen)


def _read_next(read: Read, form: _Form, offset: int, width: int) -> int:
    """Return the offset of the directory that follows the one at `offset`, 0 after the last."""
    start = offset + struct.calcsize(form.number)
    end = start + form.entry * form.unpack(form.number, read(offset, start))
    return form.unpack(form.offset, read(end, end + width))
