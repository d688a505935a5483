"""Expand one entry of a zip in blocks, and check it against the directory.

Guaranteed when the last block was taken without an error: the bytes have the size and the CRC-32 of the directory, and
the hashes are theirs; the local header belongs to the same entry, and no byte was read beyond `entry.limit`. Never more
bytes are given out than the directory says, nor more than 200 times the compressed ones above 100 MB. Not guaranteed
before that: what has been written of an entry whose error comes later must be deleted.

Sizes come from the directory alone: programs that write to a stream leave them out of the local header and put them
after the data (PKWARE APPNOTE.TXT 6.3.10, sections 4.3.7 and 4.3.9). Memory: one block read and one block expanded.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from struct import Struct

from core.codes import VolumeFailure
from core.volumes.errors import VolumeRefusedError
from core.volumes.hashes import FileHasher, FileHashes
from core.volumes.zip_checks import LOCAL_HEADER_BYTES, STORED, describe_bomb, get_max_size
from core.volumes.zip_directory import ZipEntry
from core.volumes.zip_records import Read, read_all, refuse_damaged

READ_BYTES, BLOCK_BYTES = 8_000_000, 1_000_000
# zlib copies what it leaves of its input for every block of output.
STEP_BYTES = 128_000
# Signature; version, flags, method, time, date; CRC-32, sizes; lengths of name and extra fields.
_LOCAL_HEADER = Struct("<4s5H3L2H")
# Encrypted, strongly encrypted, with a masked header.
_SAME_FLAGS = 0x2041


class EntryReader:
    """The bytes of an entry, and their hashes once all were read."""

    def __init__(self, read: Read, entry: ZipEntry) -> None:
        self._read, self._entry = read, entry
        self._hasher, self._crc32, self._size = FileHasher(), 0, 0
        self.hashes: FileHashes | None = None

    def read_blocks(self) -> Iterator[bytes]:
        """Yield the bytes in blocks of at most 1 MB.

        Raises VolumeRefusedError with ZIP_DAMAGED if they are not what the directory says, with ZIP_OVERLAP if they are
        also those of the next entry, and with ZIP_BOMB if there are too many.
        """
        compressed = self._read_compressed(self._find_data())
        blocks = self._slice(compressed) if self._entry.method == STORED else self._inflate(compressed)
        for block in blocks:
            self._size += len(block)
            self._check_size()
            self._crc32 = zlib.crc32(block, self._crc32)
            self._hasher.update(block)
            yield block
        if self._size != self._entry.size:
            raise self._refuse_damaged(f"it has {self._size:,} bytes instead of {self._entry.size:,}.")
        if self._crc32 != self._entry.crc32:
            raise self._refuse_damaged("its bytes are damaged (CRC-32).")
        self.hashes = self._hasher.finish()

    def _find_data(self) -> int:
        """Return where the compressed bytes begin, after checking the local header."""
        entry = self._entry
        end = entry.offset + LOCAL_HEADER_BYTES + len(entry.raw_name)
        raw = read_all(self._read, entry.offset, end)
        fields: list[int]
        signature, _, *fields = _LOCAL_HEADER.unpack_from(raw)
        flags, method, name_size, extra_size = fields[0], fields[1], fields[-2], fields[-1]
        if signature != b"PK\x03\x04":
            raise self._refuse_damaged("the zip's directory gives a wrong place for it.")
        if name_size != len(entry.raw_name) or raw[LOCAL_HEADER_BYTES:] != entry.raw_name:
            raise self._refuse_damaged("it has another name in the zip's directory.")
        if method != entry.method or (flags ^ entry.flags) & _SAME_FLAGS:
            raise self._refuse_damaged("it is compressed or encrypted otherwise than the zip's directory says.")
        if end + extra_size + entry.compressed_size > entry.limit:
            message = "its bytes are also those of the next entry. Make the zip again."
            raise VolumeRefusedError(VolumeFailure.ZIP_OVERLAP, message, entry.path)
        return end + extra_size

    def _read_compressed(self, start: int) -> Iterator[bytes]:
        end = start + self._entry.compressed_size
        for position in range(start, end, READ_BYTES):
            yield read_all(self._read, position, min(position + READ_BYTES, end))

    def _slice(self, stored: Iterator[bytes]) -> Iterator[bytes]:
        return (raw[start : start + BLOCK_BYTES] for raw in stored for start in range(0, len(raw), BLOCK_BYTES))

    def _inflate(self, compressed: Iterator[bytes]) -> Iterator[bytes]:
        inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        for raw in compressed:
            view = memoryview(raw)
            for start in range(0, len(view), STEP_BYTES):
                if inflater.eof:
                    raise self._refuse_damaged("it has bytes after its end.")
                yield from self._inflate_step(inflater, view[start : start + STEP_BYTES])
        if not inflater.eof or inflater.unused_data:
            raise self._refuse_damaged("its compressed bytes are cut off or have others after them.")

    def _inflate_step(self, inflater: zlib._Decompress, pending: bytes | memoryview) -> Iterator[bytes]:
        is_full = True
        # A full block can leave output behind without leaving input.
        while (pending or is_full) and not inflater.eof:
            try:
                block = inflater.decompress(pending, BLOCK_BYTES)
            except zlib.error:
                raise self._refuse_damaged("its compressed bytes are damaged.") from None
            pending, is_full = inflater.unconsumed_tail, len(block) == BLOCK_BYTES
            if block:
                yield block

    def _check_size(self) -> None:
        entry = self._entry
        message = None
        if self._size > entry.size:
            message = f"it has more bytes than the {entry.size:,} that the zip's directory says. Make the zip again."
        elif self._size > get_max_size(entry.compressed_size):
            message = describe_bomb(entry.compressed_size)
        if message:
            raise VolumeRefusedError(VolumeFailure.ZIP_BOMB, message, entry.path)

    def _refuse_damaged(self, what: str) -> VolumeRefusedError:
        return refuse_damaged(f"{what} Make the zip again.", self._entry.path)
