"""Count the pages of an image file from its bytes: TIFF directories, pages of a PDF; any other image has one.

Guaranteed: what a load file declares is not looked at. A TIFF or PDF file is read by ranges, not as a whole, unless it
is small. A file that is damaged, encrypted or of an unknown format is refused. Memory does not grow with the file.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO, cast

from core.errors import ExhibitIngestError
from core.image_load_file.tiff import count_tiff_pages, is_tiff

BLOCK = 262_144
# Of one read: a damaged PDF file would be read as a whole.
MAX_READ_BYTES = 64_000_000
_SINGLE = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM")
_PDF = b"%PDF-"
Read = Callable[[int, int], bytes]


class UncountableError(ValueError):
    """The pages of the file cannot be counted."""


def count_pages(read: Read, size: int) -> int:
    """Return the number of pages; `read(start, end)` returns the bytes from `start` to `end` of the file.

    Raises UncountableError, and what `read` raises.
    """
    file = _RangedFile(read, size)
    head = file.read_range(0, min(size, 1_024))
    if head.startswith(_SINGLE):
        return 1
    try:
        if is_tiff(head):
            return count_tiff_pages(file.read_range)
        if _PDF in head:
            return _count_pdf_pages(file)
    except ExhibitIngestError:
        raise
    # A damaged PDF makes pypdf fail with errors of any class.
    except Exception as exc:
        raise UncountableError("the file is damaged") from exc
    raise UncountableError("the format of the file is unknown")


def _count_pdf_pages(file: _RangedFile) -> int:
    # Few functions count pages; others import this module for what is stored.
    from pypdf import PdfReader

    reader = PdfReader(cast("IO[bytes]", file))
    if reader.is_encrypted:
        # For these, pypdf returns what the file declares.
        raise UncountableError("the file is encrypted")
    count = len(reader.pages)
    if not count:
        raise UncountableError("the file has no page")
    return count


class _RangedFile(io.RawIOBase):
    """A file of known size as a seekable stream that keeps the last blocks that were read."""

    def __init__(self, read: Read, size: int) -> None:
        self._read, self._size, self._at = read, size, 0
        self._blocks: dict[int, bytes] = {}

    def read_range(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`, fewer at the end of the file."""
        end = min(end, self._size)
        if start >= end:
            return b""
        first, last = start // BLOCK, (end - 1) // BLOCK
        found = b"".join(self._get_block(number) for number in range(first, last + 1))
        return found[start - first * BLOCK : end - first * BLOCK]

    def _get_block(self, number: int) -> bytes:
        if number not in self._blocks:
            if len(self._blocks) == 16:
                del self._blocks[next(iter(self._blocks))]
            self._blocks[number] = self._read(number * BLOCK, min(self._size, (number + 1) * BLOCK))
        return self._blocks[number]

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        end = self._size if size is None or size < 0 else min(self._size, self._at + size)
        if end - self._at > MAX_READ_BYTES:
            raise UncountableError("the file is damaged")
        found = self.read_range(self._at, end)
        self._at += len(found)
        return found
