"""Write S3 objects that do not exist yet, and look at those that do.

Guaranteed: an object is created whole or not at all, and never replaced: `If-None-Match` makes S3 refuse the second
write of a key, also the last step of one in parts. S3 compares the bytes with the caller's SHA-256 or, for a write in
parts, with the CRC-32 of the whole. Not guaranteed: which writer an existing object is from; `find_object` and its
checksums tell what it holds.
"""

from __future__ import annotations

import base64
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StorageUnavailableError
from shell.aws.clients import s3

PART_BYTES, PARTS_AT_ONCE, MAX_PARTS = 16_000_000, 4, 10_000
_EXISTS = frozenset({"PreconditionFailed", "412"})
_MISSING = frozenset({"404", "NoSuchKey", "NotFound"})


class StoredObject(NamedTuple):
    """The latest version of an object; size in bytes. The checksums are of the whole object, None if S3 has none."""

    version_id: str | None
    etag: str
    size: int
    sha256: bytes | None = None
    crc32: int | None = None


def put_new(bucket: str, key: str, data: bytes, sha256: bytes) -> StoredObject | None:
    """Create an object; return None if its key has one. Raises StorageUnavailableError if S3 fails."""
    try:
        put = s3().put_object(
            Bucket=bucket, Key=key, Body=data, IfNoneMatch="*", ChecksumSHA256=base64.b64encode(sha256).decode()
        )
    except (BotoCoreError, ClientError) as exc:
        if _get_code(exc) in _EXISTS:
            return None
        raise StorageUnavailableError() from exc
    return StoredObject(put.get("VersionId"), put["ETag"].strip('"'), len(data), sha256)


def put_new_in_parts(bucket: str, key: str, blocks: Iterable[bytes], size: int, crc32: int) -> StoredObject | None:
    """Create an object of `size` bytes from blocks, a few parts of which are in memory; return None if there is one.

    An error of the blocks is raised, and nothing is created. Raises StorageUnavailableError if S3 fails, also if the
    bytes do not have the CRC-32.
    """
    location: dict[str, Any] = {"Bucket": bucket, "Key": key}
    try:
        created = s3().create_multipart_upload(**location, ChecksumAlgorithm="CRC32", ChecksumType="FULL_OBJECT")
        location["UploadId"] = created["UploadId"]
        try:
            parts = _upload_parts(location, _join(blocks, max(PART_BYTES, -(-size // MAX_PARTS))))
            checksum = base64.b64encode(crc32.to_bytes(4, "big")).decode()
            whole: Any = {"MultipartUpload": {"Parts": parts}, "ChecksumCRC32": checksum, "ChecksumType": "FULL_OBJECT"}
            done = s3().complete_multipart_upload(**location, **whole, IfNoneMatch="*")
        except BaseException:
            # Otherwise the bucket's lifecycle rule deletes the parts.
            with suppress(BotoCoreError, ClientError):
                s3().abort_multipart_upload(**location)
            raise
    except (BotoCoreError, ClientError) as exc:
        if _get_code(exc) in _EXISTS:
            return None
        raise StorageUnavailableError() from exc
    return StoredObject(done.get("VersionId"), done["ETag"].strip('"'), size, None, crc32)


def find_object(bucket: str, key: str, version_id: str | None = None) -> StoredObject | None:
    """Return a version of an object, or the latest one; None without it. Raises StorageUnavailableError if S3 fails."""
    version: Any = {"VersionId": version_id} if version_id else {}
    try:
        head = s3().head_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED", **version)
    except (BotoCoreError, ClientError) as exc:
        if _get_code(exc) in _MISSING:
            return None
        raise StorageUnavailableError() from exc
    # The checksum of an object in parts can be one of its parts' checksums.
    whole: Mapping[str, Any] = head if head.get("ChecksumType", "FULL_OBJECT") == "FULL_OBJECT" else {}
    sha256, crc32 = whole.get("ChecksumSHA256"), whole.get("ChecksumCRC32")
    return StoredObject(
        head.get("VersionId"),
        head["ETag"].strip('"'),
        head["ContentLength"],
        base64.b64decode(str(sha256)) if sha256 else None,
        int.from_bytes(base64.b64decode(str(crc32)), "big") if crc32 else None,
    )


def _join(blocks: Iterable[bytes], part_bytes: int) -> Iterator[bytes]:
    part = bytearray()
    for block in blocks:
        part += block
        if len(part) >= part_bytes:
            yield bytes(part)
            part = bytearray()
    if part:
        yield bytes(part)


def _upload_parts(location: dict[str, Any], parts: Iterator[bytes]) -> list[dict[str, Any]]:
    uploaded: list[dict[str, Any]] = []
    with ThreadPoolExecutor(PARTS_AT_ONCE) as executor:
        pending: deque[Future[dict[str, Any]]] = deque()
        for number, part in enumerate(parts, start=1):
            pending.append(executor.submit(_upload_part, location, number, part))
            if len(pending) == PARTS_AT_ONCE:
                uploaded.append(pending.popleft().result())
        uploaded += [each.result() for each in pending]
    return uploaded


def _upload_part(location: dict[str, Any], number: int, part: bytes) -> dict[str, Any]:
    answer = s3().upload_part(**location, PartNumber=number, Body=part, ChecksumAlgorithm="CRC32")
    return {"PartNumber": number, "ETag": answer["ETag"], "ChecksumCRC32": answer["ChecksumCRC32"]}


def _get_code(exc: Exception) -> str:
    return str(exc.response["Error"]["Code"]) if isinstance(exc, ClientError) else ""
