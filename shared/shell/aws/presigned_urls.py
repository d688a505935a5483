"""URLs with which whoever holds them may put or get one object, or put its parts, for a while, without credentials.

Guaranteed: only the host is signed, so that any HTTP client can use them without a header of its own; they name the
bucket's own region, whose answer is never a redirect.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StorageUnavailableError
from shell.settings import settings
from shell.utils.aws import s3

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def begin_multipart(bucket: str, key: str) -> str:
    """Begin an upload in parts; returns its id. One that is never completed is removed by the bucket's own rule."""
    try:
        return s3().create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError("the upload could not be begun") from exc


def put_url(bucket: str, key: str) -> str:
    """Where to PUT the whole object."""
    return _signed("put_object", Bucket=bucket, Key=key)


def get_url(bucket: str, key: str) -> str:
    """Where to GET an object."""
    return _signed("get_object", Bucket=bucket, Key=key)


def part_url(bucket: str, key: str, multipart_id: str, number: int) -> str:
    """Where to PUT one part."""
    return _signed("upload_part", Bucket=bucket, Key=key, UploadId=multipart_id, PartNumber=number)


def complete_url(bucket: str, key: str, multipart_id: str) -> str:
    """Where to POST the list of the parts."""
    return _signed("complete_multipart_upload", Bucket=bucket, Key=key, UploadId=multipart_id)


def _signed(operation: str, **parameters: Any) -> str:
    try:
        expires_s = settings().upload_url_seconds
        return _signer(s3()).generate_presigned_url(operation, Params=parameters, ExpiresIn=expires_s)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError("no URL could be signed") from exc


@lru_cache(maxsize=1)
def _signer(_client: S3Client) -> S3Client:
    """A client for signing alone, made anew whenever the usual one is."""
    config = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
    return boto3.client("s3", config=config)
