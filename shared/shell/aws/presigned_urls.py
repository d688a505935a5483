"""Presigned S3 URLs: their holder may put or get one object, or put its parts, without credentials until they expire.

Guaranteed: a URL to create an object cannot replace one, because `UPLOAD_HEADERS` are signed; a URL to put a part, or
an object of known size, accepts exactly that many bytes, because `Content-Length` is signed. Any HTTP client can use
them: it sends its Content-Length by itself. URLs to read need no header. They name the bucket's regional endpoint,
which never answers with a redirect.
"""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StorageUnavailableError
from core.http_headers import format_attachment
from shell.aws.clients import s3
from shell.settings import settings

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


# S3 then creates the object only if its key has none (412 otherwise).
UPLOAD_HEADERS = {"If-None-Match": "*"}
_IF_NEW = UPLOAD_HEADERS["If-None-Match"]
_CHECKSUM: Any = {"ChecksumAlgorithm": "CRC64NVME", "ChecksumType": "FULL_OBJECT"}


def create_multipart_upload(bucket: str, key: str) -> str:
    """Start a multipart upload and return its id; the bucket's lifecycle rule removes one that is never completed.

    S3 computes the CRC-64/NVME of each part, and ListParts returns it: for an upload that names no
    algorithm, S3 computes it too, but need not list it (S3 API reference, Part: "created with the CRC64NVME checksum
    algorithm"). With the type FULL_OBJECT, neither a part nor the completion has to state a checksum.

    Raises StorageUnavailableError if S3 does not start it.
    """
    try:
        created = s3().create_multipart_upload(Bucket=bucket, Key=key, **_CHECKSUM)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError("S3 did not start the multipart upload; try again.") from exc
    return created["UploadId"]


def build_checksum_headers(sha256: bytes) -> dict[str, str]:
    """Return the header with which S3 refuses other bytes than those with this SHA-256."""
    return {"x-amz-checksum-sha256": base64.b64encode(sha256).decode()}


def presign_put(bucket: str, key: str, size: int | None, sha256: bytes | None = None) -> str:
    """Return the URL to PUT the whole object to with UPLOAD_HEADERS; it accepts `size` bytes, or any number if None.

    With `sha256`, the headers of `build_checksum_headers` are required, too.
    """
    options: dict[str, Any] = {} if size is None else {"ContentLength": size}
    if sha256 is not None:
        options["ChecksumSHA256"] = base64.b64encode(sha256).decode()
    return _presign("put_object", Bucket=bucket, Key=key, IfNoneMatch=_IF_NEW, **options)


def presign_get(bucket: str, key: str, file_name: str | None = None, media_type: str | None = None) -> str:
    """Return the URL to GET an object from; with a name, its response is a download of this name and type."""
    options: dict[str, Any] = {}
    if file_name is not None:
        options["ResponseContentDisposition"] = format_attachment(file_name)
    if media_type is not None:
        options["ResponseContentType"] = media_type
    return _presign("get_object", Bucket=bucket, Key=key, **options)


def presign_download(bucket: str, key: str, version_id: str | None, media_type: str, disposition: str) -> str:
    """Return the URL to GET an object, in that version or the current one, whose response has these two headers."""
    options = {} if version_id is None else {"VersionId": version_id}
    headers = {"ResponseContentType": media_type, "ResponseContentDisposition": disposition}
    return _presign("get_object", Bucket=bucket, Key=key, **options, **headers)


def presign_part(bucket: str, key: str, multipart_id: str, number: int, size: int) -> str:
    """Return the URL to PUT one part of `size` bytes to."""
    place = {"Bucket": bucket, "Key": key, "UploadId": multipart_id}
    return _presign("upload_part", **place, PartNumber=number, ContentLength=size)


def presign_complete(bucket: str, key: str, multipart_id: str) -> str:
    """Return the URL to POST the list of parts to with UPLOAD_HEADERS."""
    return _presign("complete_multipart_upload", Bucket=bucket, Key=key, UploadId=multipart_id, IfNoneMatch=_IF_NEW)


def _presign(operation: str, **parameters: Any) -> str:
    try:
        expires_s = settings().upload_url_seconds
        return _signing_client(s3()).generate_presigned_url(operation, Params=parameters, ExpiresIn=expires_s)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError("No URL could be signed; try again.") from exc


@lru_cache(maxsize=1)
def _signing_client(_client: S3Client) -> S3Client:
    """Return a client that only signs; it is created again whenever the S3 client is."""
    config = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
    return boto3.client("s3", config=config)
