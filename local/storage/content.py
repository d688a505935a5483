"""The bytes of a stored object, which are read from the disk when they are sent: all of them, or a range."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from local.storage.blobs import Blobs
from local.storage.part_checksums import encode_crc64nvme
from local.storage.storage import Segment


class Content:
    """What stands for the bytes of an object in moto's responses: it has a length, can be cut, and yields blocks."""

    def __init__(self, blobs: Blobs, segments: Sequence[Segment], known: Mapping[Any, Any] | None = None) -> None:
        self._blobs = blobs
        self.segments = tuple(segments)
        self.known = known or {}

    def cut(self, number: int) -> Content:
        """Return one of the segments, from 1. Raises IndexError."""
        return Content(self._blobs, [self.segments[number - 1]])

    def __len__(self) -> int:
        return sum(segment.size for segment in self.segments)

    def __getitem__(self, cut: slice) -> Content:
        start, end, _ = cut.indices(len(self))
        return Content(self._blobs, list(cut_segments(self.segments, start, end)))

    def __iter__(self) -> Iterator[bytes]:
        for segment in self.segments:
            yield from self._blobs.read(*segment)

    def read(self) -> bytes:
        """Return the bytes at once: for a part or a small object only."""
        return b"".join(self)

    def md5(self) -> str:
        """Return the MD5 in hexadecimal digits, as an ETag has it."""
        digest = hashlib.md5(usedforsecurity=False)
        for block in self:
            digest.update(block)
        return digest.hexdigest()


def cut_segments(segments: Sequence[Segment], start: int, end: int) -> Iterator[Segment]:
    """Yield the segments of the bytes [start, end)."""
    begin = 0
    for blob, offset, size in segments:
        first, last = max(start, begin), min(end, begin + size)
        if first < last:
            yield Segment(blob, offset + first - begin, last - first)
        begin += size


def checksum_content(content: Content | bytes, algorithm: str, fallback: Callable[..., bytes]) -> bytes:
    """Return the checksum of a content in Base64, which may be known; `fallback` has the other algorithms."""
    if isinstance(content, bytes):
        return fallback(content, algorithm)
    if known := content.known.get(algorithm):
        return str(known).encode()
    if algorithm == "CRC32":
        crc = 0
        for block in content:
            crc = zlib.crc32(block, crc)
        return base64.b64encode(crc.to_bytes(4))
    if algorithm == "CRC64NVME":
        return encode_crc64nvme(content.read()).encode()
    digests: dict[str, Any] = {"SHA256": hashlib.sha256, "SHA1": lambda: hashlib.sha1(usedforsecurity=False)}
    if algorithm not in digests:
        return fallback(content.read(), algorithm)
    digest = digests[algorithm]()
    for block in content:
        digest.update(block)
    return base64.b64encode(digest.digest())
