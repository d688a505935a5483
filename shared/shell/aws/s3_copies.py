"""Copy objects within the bucket, and say what was copied: size and SHA-256.

Guaranteed: S3 copies a version itself, completely or not at all; copying again is harmless. The SHA-256 is of the whole
copy: S3 computes it while it copies, and for an object that is copied in parts the bytes are read.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

from boto3.s3.transfer import TransferConfig
from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StorageUnavailableError
from shell.aws.clients import s3
from shell.aws.s3 import GONE, REFUSALS, ObjectVersion

# A larger object is copied in parts: one request could take longer than the client's read timeout.
LARGEST_SINGLE_COPY = 200_000_000
_MULTIPART_COPY = TransferConfig(
    multipart_threshold=LARGEST_SINGLE_COPY, multipart_chunksize=LARGEST_SINGLE_COPY, max_concurrency=4
)
COPIED_FROM = "copied-from"
_EXISTS = frozenset({"412", "PreconditionFailed"})


class CopiedObject(NamedTuple):
    """The size in bytes and the SHA-256 of a copy."""

    size: int
    sha256: bytes


def copy_object(bucket: str, source: str, target: str, version_id: str | None = None) -> CopiedObject | str:
    """Copy a version of an object, by default the current one, to another key, without its tags and metadata.

    Returns what is copied, also by an earlier call, or S3's error code if the copy can never succeed. Raises
    StorageUnavailableError for a failure that a retry may resolve.
    """
    try:
        selector = {"VersionId": version_id} if version_id else {}
        head = s3().head_object(Bucket=bucket, Key=source, **cast("Any", selector))
        version = head.get("VersionId") or head["ETag"].strip('"')
        earlier = _head(bucket, target)
        if earlier is not None and earlier["Metadata"].get(COPIED_FROM) == version:
            return _describe(bucket, target, earlier)
        origin = {"Bucket": bucket, "Key": source, **({"VersionId": version} if "VersionId" in head else {})}
        extra = {"Metadata": {COPIED_FROM: version}, "ContentType": head.get("ContentType", "binary/octet-stream")}
        return _copy(bucket, origin, target, head["ContentLength"], extra)
    except ClientError as exc:
        return _get_refusal(exc)
    except BotoCoreError as exc:
        raise StorageUnavailableError() from exc


def copy_version(source: ObjectVersion, size: int, target: str) -> CopiedObject | str:
    """Copy one version of an object to a key that no other source is copied to; do and raise what `copy_object` does.

    An object that is there already is the copy of an earlier call: S3 refuses to write it again (If-None-Match).
    """
    origin = {"Bucket": source.bucket, "Key": source.key}
    if source.version_id:
        origin["VersionId"] = source.version_id
    try:
        if size > LARGEST_SINGLE_COPY and (earlier := _head(source.bucket, target)) is not None:
            return _describe(source.bucket, target, earlier)
        return _copy(source.bucket, origin, target, size, {"IfNoneMatch": "*"})
    except ClientError as exc:
        if exc.response["Error"]["Code"] not in _EXISTS:
            return _get_refusal(exc)
    except BotoCoreError as exc:
        raise StorageUnavailableError() from exc
    return _find_copy(source.bucket, target)


def _find_copy(bucket: str, target: str) -> CopiedObject | str:
    try:
        head = _head(bucket, target)
        if head is None:
            raise StorageUnavailableError("A copy was there and is not any more.")
        return _describe(bucket, target, head)
    except ClientError as exc:
        return _get_refusal(exc)
    except BotoCoreError as exc:
        raise StorageUnavailableError() from exc


def _copy(bucket: str, origin: Any, target: str, size: int, extra: dict[str, Any]) -> CopiedObject:
    # Tags and metadata belong to this application; a production does not disclose them.
    kept = {"MetadataDirective": "REPLACE", "TaggingDirective": "REPLACE", "ChecksumAlgorithm": "SHA256", **extra}
    if size > LARGEST_SINGLE_COPY:
        kept.pop("IfNoneMatch", None)
        s3().copy(origin, bucket, target, ExtraArgs=kept, Config=_MULTIPART_COPY)
        return CopiedObject(size, _hash(bucket, target, size))
    result = s3().copy_object(CopySource=origin, Bucket=bucket, Key=target, **cast("Any", kept))
    digest = _read_checksum(result["CopyObjectResult"])
    return CopiedObject(size, _hash(bucket, target, size) if digest is None else digest)


def _head(bucket: str, key: str) -> Any | None:
    try:
        return s3().head_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
    except ClientError as exc:
        if exc.response["Error"]["Code"] in GONE:
            return None
        raise


def _describe(bucket: str, key: str, head: Any) -> CopiedObject:
    digest, size = _read_checksum(head), int(head["ContentLength"])
    return CopiedObject(size, _hash(bucket, key, size) if digest is None else digest)


def _read_checksum(answer: Mapping[str, Any]) -> bytes | None:
    """Return the SHA-256 of the whole object; None for that of an object in parts, which is one of their hashes."""
    value = str(answer.get("ChecksumSHA256") or "")
    return base64.b64decode(value) if value and "-" not in value else None


def _hash(bucket: str, key: str, size: int) -> bytes:
    digest = hashlib.sha256()
    for block in ObjectVersion(bucket, key, None, None).read_blocks(size):
        digest.update(block)
    return digest.digest()


def _get_refusal(exc: ClientError) -> str:
    code = str(exc.response["Error"]["Code"])
    if code in GONE | REFUSALS:
        return code
    raise StorageUnavailableError(f"S3 answered {code}.") from exc
