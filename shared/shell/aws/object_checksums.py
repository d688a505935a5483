"""Read the checksum that S3 holds of an object.

Guaranteed: what is returned was computed by S3 of all bytes of the object, in one piece. Not guaranteed: that there is
one, such as of an object that was stored before S3 computed checksums by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StorageUnavailableError
from shell.aws.clients import s3
from shell.aws.s3 import GONE


class ObjectChecksum(NamedTuple):
    """A checksum in Base64, with the name of its algorithm."""

    algorithm: str
    value: str


# The one that an upload stated, then the one that S3 computes by itself (Amazon S3 User Guide, "Checking object
# integrity in Amazon S3").
_ALGORITHMS = ("SHA256", "CRC64NVME")


def read_checksum(bucket: str, key: str) -> ObjectChecksum | None:
    """Return the checksum of the newest version of an object; None if S3 has none of the whole, or not the object.

    Raises StorageUnavailableError if S3 fails.
    """
    try:
        head = s3().head_object(Bucket=bucket, Key=key, ChecksumMode="ENABLED")
    except ClientError as exc:
        if exc.response["Error"]["Code"] in GONE:
            return None
        raise StorageUnavailableError() from exc
    except BotoCoreError as exc:
        raise StorageUnavailableError() from exc
    return choose_checksum(head)


def choose_checksum(head: Mapping[str, Any]) -> ObjectChecksum | None:
    """Return the checksum of the whole object in a response to HeadObject; None for that of its parts' checksums."""
    if head.get("ChecksumType", "FULL_OBJECT") != "FULL_OBJECT":
        return None
    found = ((name, str(head.get(f"Checksum{name}") or "")) for name in _ALGORITHMS)
    return next((ObjectChecksum(name, value) for name, value in found if value and "-" not in value), None)
