"""List the parts of a multipart upload, as S3 has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StorageUnavailableError
from shell.aws.clients import s3

_CHECKSUM = "Checksum"


class ListedPart(NamedTuple):
    """A part that S3 has: its number, size in bytes and ETag, and its checksum in Base64 with the algorithm's name."""

    number: int
    size: int
    etag: str
    algorithm: str | None = None
    checksum: str | None = None


def list_parts(bucket: str, key: str, multipart_id: str) -> list[ListedPart] | None:
    """Return the parts of an upload, by number; None if it was completed, or S3 has deleted it.

    Raises StorageUnavailableError for any other failure.
    """
    try:
        pages = s3().get_paginator("list_parts").paginate(Bucket=bucket, Key=key, UploadId=multipart_id)
        return [_read_part(part) for page in pages for part in page.get("Parts", [])]
    except ClientError as exc:
        if exc.response["Error"]["Code"] == "NoSuchUpload":
            return None
        raise StorageUnavailableError() from exc
    except BotoCoreError as exc:
        raise StorageUnavailableError() from exc


def _read_part(part: Mapping[str, Any]) -> ListedPart:
    """Return a part; S3 adds CRC64NVME by itself where the client stated no checksum (S3 API reference, ListParts)."""
    named = ((name.removeprefix(_CHECKSUM), part[name]) for name in part if name.startswith(_CHECKSUM))
    algorithm, checksum = next(named, (None, None))
    return ListedPart(part["PartNumber"], part["Size"], part["ETag"], algorithm, checksum)
