"""What the storage states of a part, compared with the bytes of this machine.

S3 states the CRC-64/NVME of every part, in its answer to the request and in its list of parts. The ETag of a part is
its MD5 only where the bucket is not encrypted with a key of KMS, as on one machine. The CRC, which Python computes,
takes tens of times as long as the MD5: it is computed only where an ETag is not the MD5.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from exhibit_ingest.uploads.crc64 import Crc64
from exhibit_ingest.uploads.protocols import Document

ALGORITHM = "CRC64NVME"


class PartDigest(NamedTuple):
    """The MD5 of a part in hexadecimal, and its CRC as S3 writes it; None if it was not computed."""

    md5: str
    crc: str | None

    def is_etag(self, etag: str) -> bool:
        """Return whether an ETag is the MD5."""
        return etag.strip('"').lower() == self.md5

    def is_part(self, stored: Document) -> bool:
        """Return whether a part that the storage states has these bytes; False if it states neither CRC nor MD5."""
        if self.crc is None or stored.get("checksumAlgorithm") != ALGORITHM:
            return self.is_etag(stored["etag"])
        return bool(stored["checksum"] == self.crc)


class PartHash:
    """Computes the digest of bytes while they are read."""

    def __init__(self, *, with_crc: bool) -> None:
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._crc = Crc64() if with_crc else None

    def watch(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the blocks, and add each."""
        for block in blocks:
            self._md5.update(block)
            if self._crc is not None:
                self._crc.add(block)
            yield block

    def finish(self) -> PartDigest:
        """Return the digest."""
        crc = None if self._crc is None else base64.b64encode(self._crc.digest()).decode()
        return PartDigest(self._md5.hexdigest(), crc)


class DeclaredHash:
    """Compares bytes, while they are read, with the SHA-256 that was declared of them, in Base64; None for none."""

    def __init__(self, declared: str | None) -> None:
        self._declared, self._digest = declared, hashlib.sha256()

    def watch(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the blocks, and add each."""
        for block in blocks:
            if self._declared is not None:
                self._digest.update(block)
            yield block

    def is_kept(self) -> bool:
        """Return whether all bytes together are those that were declared."""
        return self._declared in (None, base64.b64encode(self._digest.digest()).decode())


class Readable(Protocol):
    """Bytes of a range, some at a time."""

    def read(self, start: int, end: int) -> Iterable[bytes]:
        """Yield the bytes from `start` up to `end`."""


def has_bytes(source: Readable, stored: Document) -> bool:
    """Return whether a stored part has the bytes of the source."""
    first, end = stored["firstByte"], stored["firstByte"] + stored["size"]
    if read_digest(source, first, end, with_crc=False).is_etag(stored["etag"]):
        return True
    has_crc = stored.get("checksumAlgorithm") == ALGORITHM
    return has_crc and read_digest(source, first, end, with_crc=True).is_part(stored)


def read_digest(source: Readable, start: int, end: int, *, with_crc: bool) -> PartDigest:
    """Return the digest of a range of the source."""
    computed = PartHash(with_crc=with_crc)
    for _ in computed.watch(source.read(start, end)):
        pass
    return computed.finish()
