"""Reading one fixed version of an object in S3, by range; and writing, copying and deleting objects.

Guaranteed: every read names the version (or, where the bucket has none, the ETag), so that all readers of an upload
see the same bytes or an error. A version that is gone raises FileRefusedError (SOURCE_GONE); anything else that goes
wrong raises StorageUnavailableError, for the reader to come back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from io import RawIOBase
from typing import IO, Any, NamedTuple, cast

from boto3.s3.transfer import TransferConfig
from botocore.exceptions import BotoCoreError, ClientError

from core.errors import FileRefusedError, StorageUnavailableError
from core.reasons import FileFailure
from shell.utils.aws import s3

BLOCK_BYTES = 8_000_000
# Larger ones are copied part by part: a single request may take longer than a client waits for its answer.
LARGEST_COPY = 200_000_000
_IN_PARTS = TransferConfig(multipart_threshold=LARGEST_COPY, multipart_chunksize=LARGEST_COPY, max_concurrency=4)
# What S3 will not do however often it is asked: an archived object, a key or a policy that forbids it.
_REFUSALS = frozenset({"InvalidObjectState", "AccessDenied", "403", "InvalidRequest", "400"})
COPIED_FROM = "copied-from"
_GONE = frozenset({"404", "NoSuchKey", "NoSuchVersion", "PreconditionFailed", "412"})


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
        """The bytes [start, end)."""
        if end <= start:
            return b""
        try:
            answer = s3().get_object(**self._selector(), Range=f"bytes={start}-{end - 1}")
            return answer["Body"].read()
        except ClientError as exc:
            raise _translated(exc) from exc
        except BotoCoreError as exc:
            raise StorageUnavailableError() from exc

    def blocks(self, size: int) -> Iterator[bytes]:
        """The bytes [0, size) in order, the next block being fetched while one is worked on."""
        starts = range(0, size, BLOCK_BYTES)
        with ThreadPoolExecutor(max_workers=1) as fetcher:
            pending = [fetcher.submit(self.read, start, min(size, start + BLOCK_BYTES)) for start in starts[:1]]
            for start in [*starts[1:], None]:
                if not pending:
                    return
                block = pending.pop().result()
                if start is not None:
                    pending.append(fetcher.submit(self.read, start, min(size, start + BLOCK_BYTES)))
                yield block

    def size(self) -> int:
        """The size in bytes."""
        try:
            return s3().head_object(**self._selector())["ContentLength"]
        except ClientError as exc:
            raise _translated(exc) from exc
        except BotoCoreError as exc:
            raise StorageUnavailableError() from exc


def read_small(bucket: str, key: str, limit: int) -> bytes | None:
    """The object's first `limit` bytes; None if there is no such object."""
    try:
        return s3().get_object(Bucket=bucket, Key=key, Range=f"bytes=0-{limit - 1}")["Body"].read()
    except ClientError as exc:
        code = exc.response["Error"]["Code"]
        if code in _GONE:
            return None
        if code == "InvalidRange":
            return b""
        raise StorageUnavailableError() from exc
    except BotoCoreError as exc:
        raise StorageUnavailableError() from exc


def write_stream(bucket: str, key: str, pieces: Iterable[bytes], content_type: str) -> None:
    """Write the pieces as one object, in parts, without holding more than a few of them."""
    try:
        s3().upload_fileobj(cast("IO[bytes]", _Pieces(pieces)), bucket, key, ExtraArgs={"ContentType": content_type})
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc


def copy_object(bucket: str, source: str, target: str) -> str | None:
    """Copy the current version of an object within its bucket, inside S3, with its content type and nothing else.

    Returns None when it is copied, also by an earlier call, or S3's word for why that will not be. Raises
    StorageUnavailableError for what may be otherwise in a while.
    """
    try:
        head = s3().head_object(Bucket=bucket, Key=source)
        version = head.get("VersionId") or head["ETag"].strip('"')
        if _is_copied(bucket, target, version):
            return None
        origin = {"Bucket": bucket, "Key": source, **({"VersionId": version} if "VersionId" in head else {})}
        # Tags and metadata are ours; they are not handed over.
        kept = {"MetadataDirective": "REPLACE", "TaggingDirective": "REPLACE", "Metadata": {COPIED_FROM: version}}
        extra = {**kept, "ContentType": head.get("ContentType", "binary/octet-stream")}
        if head["ContentLength"] > LARGEST_COPY:
            s3().copy(cast("Any", origin), bucket, target, ExtraArgs=extra, Config=_IN_PARTS)
        else:
            s3().copy_object(CopySource=cast("Any", origin), Bucket=bucket, Key=target, **cast("Any", extra))
    except ClientError as exc:
        code = exc.response["Error"]["Code"]
        if code in _GONE | _REFUSALS:
            return code
        raise StorageUnavailableError(f"S3 answered {code}") from exc
    except BotoCoreError as exc:
        raise StorageUnavailableError() from exc
    return None


def _is_copied(bucket: str, target: str, version: str) -> bool:
    try:
        return s3().head_object(Bucket=bucket, Key=target)["Metadata"].get(COPIED_FROM) == version
    except ClientError as exc:
        if exc.response["Error"]["Code"] in _GONE:
            return False
        raise


def delete_all(bucket: str, prefix: str) -> int:
    """Delete every version of every object whose key begins so, until there is none; returns how many."""
    deleted = 0
    try:
        for page in s3().get_paginator("list_object_versions").paginate(Bucket=bucket, Prefix=prefix):
            found = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
            doomed = [{"Key": each["Key"], "VersionId": each["VersionId"]} for each in found]
            if doomed:
                _delete(bucket, doomed)
            deleted += len(doomed)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc
    return deleted


def _delete(bucket: str, doomed: list[dict[str, str]]) -> None:
    answer = s3().delete_objects(Bucket=bucket, Delete=cast("Any", {"Objects": doomed, "Quiet": True}))
    if answer.get("Errors"):
        raise StorageUnavailableError(f"{len(answer['Errors'])} of {len(doomed)} objects were not deleted")


class _Pieces(RawIOBase):
    """Pieces of bytes as a file that is read once, from its beginning."""

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


def _translated(exc: ClientError) -> Exception:
    code = exc.response["Error"]["Code"]
    if code in _GONE:
        return FileRefusedError(FileFailure.SOURCE_GONE, "the uploaded version is no longer in the bucket")
    return StorageUnavailableError(f"S3 answered {code}")
