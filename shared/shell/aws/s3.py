"""Read one fixed version of an S3 object by range; write and delete objects.

Guaranteed: every read names the version (or the ETag, where the bucket is not versioned), so all readers of an upload
get the same bytes or an error. A version that no longer exists raises FileRefusedError (SOURCE_GONE); any other
failure raises StorageUnavailableError, which a caller may retry, or its subclass StorageRefusedError, if S3 forbids a
read and will until an operator changes that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from io import RawIOBase
from typing import IO, Any, NamedTuple, cast

from botocore.exceptions import BotoCoreError, ClientError

from core.codes import FileFailure
from core.errors import FileRefusedError, StorageRefusedError, StorageUnavailableError
from shell.aws.clients import s3
from shell.prefetch import reading_ahead

BLOCK_BYTES = 8_000_000
# Permanent errors: an archived object, or a key or policy that forbids the request.
# An archived object is InvalidObjectState to a read, and ObjectNotInActiveTierError to a copy (S3 API: CopyObject).
REFUSALS = frozenset(
    {"InvalidObjectState", "ObjectNotInActiveTierError", "AccessDenied", "403", "InvalidRequest", "400"}
)
GONE = frozenset({"404", "NoSuchKey", "NoSuchVersion", "PreconditionFailed", "412"})


class ObjectVersion(NamedTuple):
    """One version of one object."""

    bucket: str
    key: str
    version_id: str | None
    etag: str | None

    def _selector(self) -> dict[str, Any]:
        selector: dict[str, Any] = {"Bucket": self.bucket, "Key": self.key}
        if self.version_id:
            return {**selector, "VersionId": self.version_id}
        return {**selector, "IfMatch": self.etag} if self.etag else selector

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes [start, end).

        Raises FileRefusedError if the version no longer exists, StorageUnavailableError for any other failure.
        """
        if end <= start:
            return b""
        try:
            response = s3().get_object(**self._selector(), Range=f"bytes={start}-{end - 1}")
            return response["Body"].read()
        except ClientError as exc:
            raise _translate_error(exc) from exc
        except BotoCoreError as exc:
            raise StorageUnavailableError() from exc

    def read_blocks(self, size: int, start: int = 0) -> Iterator[bytes]:
        """Yield the bytes [start, size) in order, and fetch the next block while the caller processes one."""
        starts = range(start, size, BLOCK_BYTES)
        with reading_ahead(1) as fetcher:
            pending = [fetcher.submit(self.read, start, min(size, start + BLOCK_BYTES)) for start in starts[:1]]
            for start in [*starts[1:], None]:
                if not pending:
                    return
                block = pending.pop().result()
                if start is not None:
                    pending.append(fetcher.submit(self.read, start, min(size, start + BLOCK_BYTES)))
                yield block

    def get_size(self) -> int:
        """Return the size in bytes; raises as `read` does."""
        try:
            return s3().head_object(**self._selector())["ContentLength"]
        except ClientError as exc:
            raise _translate_error(exc) from exc
        except BotoCoreError as exc:
            raise StorageUnavailableError() from exc


def read_first_bytes(bucket: str, key: str, limit: int) -> bytes | None:
    """Return the object's first `limit` bytes, or None if the object does not exist."""
    try:
        return s3().get_object(Bucket=bucket, Key=key, Range=f"bytes=0-{limit - 1}")["Body"].read()
    except ClientError as exc:
        code = exc.response["Error"]["Code"]
        if code in GONE:
            return None
        if code == "InvalidRange":
            return b""
        raise _translate_error(exc) from exc
    except BotoCoreError as exc:
        raise StorageUnavailableError() from exc


def write_object(bucket: str, key: str, body: bytes, content_type: str) -> None:
    """Write a small object. Raises StorageUnavailableError."""
    try:
        s3().put_object(Bucket=bucket, Key=key, Body=body, ContentType=content_type)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc


def write_stream(bucket: str, key: str, pieces: Iterable[bytes], content_type: str) -> None:
    """Write the pieces as one object by multipart upload; only a few pieces are in memory at a time."""
    try:
        s3().upload_fileobj(
            cast("IO[bytes]", _ByteStream(pieces)), bucket, key, ExtraArgs={"ContentType": content_type}
        )
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc


def find_current_version(bucket: str, key: str) -> tuple[ObjectVersion, int]:
    """Return the current version of an object and its size in bytes.

    Raises FileRefusedError if there is none, StorageUnavailableError for any other failure.
    """
    try:
        head = s3().head_object(Bucket=bucket, Key=key)
    except ClientError as exc:
        raise _translate_error(exc) from exc
    except BotoCoreError as exc:
        raise StorageUnavailableError() from exc
    return ObjectVersion(bucket, key, head.get("VersionId"), head["ETag"].strip('"')), head["ContentLength"]


def list_objects(bucket: str, prefix: str, after: str = "") -> Iterator[tuple[str, int]]:
    """Yield key and size of each object whose key starts with `prefix` and comes after `after`, in the order of keys.

    A page of 1,000 is fetched when its first object is needed.
    Raises StorageUnavailableError.
    """
    try:
        for page in s3().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix, StartAfter=after):
            yield from ((each["Key"], each["Size"]) for each in page.get("Contents", []))
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc


def hide_objects(bucket: str, keys: Sequence[str]) -> None:
    """Delete at most 1,000 objects so that their versions stay, behind a marker. Raises StorageUnavailableError."""
    if not keys:
        return
    try:
        _delete(bucket, [{"Key": key} for key in keys])
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc


def delete_prefix(bucket: str, prefix: str) -> int:
    """Delete every version of every object whose key starts with `prefix`; return how many were deleted."""
    deleted = 0
    try:
        for page in s3().get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix):
            found = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
            versions = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in found]
            if versions:
                _delete(bucket, versions)
            deleted += len(versions)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc
    return deleted


def _delete(bucket: str, versions: list[dict[str, str]]) -> None:
    response = s3().delete_objects(Bucket=bucket, Delete=cast("Any", {"Objects": versions, "Quiet": True}))
    if response.get("Errors"):
        raise StorageUnavailableError(f"{len(response['Errors'])} of {len(versions)} objects were not deleted.")


class _ByteStream(RawIOBase):
    """Pieces of bytes as a file object that is read once, from start to end."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts, have = [self._rest], len(self._rest)
        while size < 0 or have < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            parts.append(piece)
            have += len(piece)
        whole = b"".join(parts)
        cut = len(whole) if size < 0 else size
        self._rest = whole[cut:]
        return whole[:cut]


def _translate_error(exc: ClientError) -> Exception:
    code = exc.response["Error"]["Code"]
    if code in GONE:
        return FileRefusedError(FileFailure.SOURCE_GONE, "The uploaded version is no longer in the bucket.")
    if code in REFUSALS:
        return StorageRefusedError(f"S3 answered {code}.")
    return StorageUnavailableError(f"S3 answered {code}.")
