"""The object of an export: a multipart upload whose parts are written again after a kill.

Guaranteed: the object exists as a whole or not at all. A part that is uploaded again replaces the former one, and the
completion names each part by its ETag, so that S3 refuses it unless these are the parts that were recorded.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import InvalidInputError, StorageUnavailableError
from shell.aws.clients import s3
from shell.aws.new_objects import find_object

_LOST = frozenset({"NoSuchUpload", "InvalidPart", "404"})


class UploadLostError(InvalidInputError):
    """The upload of the file is gone: S3 deletes what is not completed within 7 days. Request the export again."""


class Upload(NamedTuple):
    """A multipart upload."""

    bucket: str
    key: str
    upload_id: str


class UploadedPart(NamedTuple):
    """A part as S3 has it: number, ETag and CRC-32 in Base64."""

    part_no: int
    etag: str
    checksum: str


def begin_upload(bucket: str, key: str, media_type: str) -> Upload:
    """Start an upload. Raises StorageUnavailableError."""
    with _translating():
        created = s3().create_multipart_upload(
            Bucket=bucket, Key=key, ContentType=media_type, ChecksumAlgorithm="CRC32"
        )
        return Upload(bucket, key, created["UploadId"])


def upload_part(upload: Upload, number: int, body: bytes) -> UploadedPart:
    """Upload a part, or upload it again. Raises UploadLostError and StorageUnavailableError."""
    checksum = base64.b64encode(zlib.crc32(body).to_bytes(4, "big")).decode()
    with _translating():
        stored = s3().upload_part(**_name(upload), PartNumber=number, Body=body, ChecksumCRC32=checksum)
        return UploadedPart(number, stored["ETag"], checksum)


def complete_upload(upload: Upload, parts: Sequence[UploadedPart]) -> None:
    """Make the parts the object; do nothing if that was done. Raises UploadLostError and StorageUnavailableError."""
    named: Any = {"Parts": [{"PartNumber": n, "ETag": etag, "ChecksumCRC32": crc} for n, etag, crc in parts]}
    try:
        with _translating():
            s3().complete_multipart_upload(**_name(upload), MultipartUpload=named)
    except UploadLostError:
        # Only a completion creates an object with this key.
        if find_object(upload.bucket, upload.key) is None:
            raise


def abort_upload(upload: Upload) -> None:
    """Delete the parts; what S3 keeps in an outage, the lifecycle rule of the bucket deletes."""
    with suppress(BotoCoreError, ClientError):
        s3().abort_multipart_upload(**_name(upload))


def _name(upload: Upload) -> dict[str, Any]:
    return {"Bucket": upload.bucket, "Key": upload.key, "UploadId": upload.upload_id}


@contextmanager
def _translating() -> Iterator[None]:
    try:
        yield
    except ClientError as exc:
        if exc.response["Error"]["Code"] in _LOST:
            raise UploadLostError from exc
        raise StorageUnavailableError from exc
    except BotoCoreError as exc:
        raise StorageUnavailableError from exc
