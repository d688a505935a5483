"""List all that a prefix has: versions of objects, delete markers and uploads in parts; delete what was listed.

Guaranteed: a page begins after the markers of the one before, whatever was deleted since. Deleting again what is
deleted succeeds, and so does aborting an upload again.
Not guaranteed: that what is put while the pages are read is listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StorageUnavailableError
from shell.aws.clients import s3
from shell.aws.object_versions import PAGE

VERSIONS, MARKERS, UPLOADS = "versions", "markers", "uploads"
# What S3 answers for a version under retention or a legal hold (User Guide, "Locking objects with Object Lock").
_LOCKED = "AccessDenied"
_GONE = frozenset({"NoSuchUpload", "NoSuchVersion", "NoSuchKey", "404"})


class Doomed(NamedTuple):
    """A version or delete marker of an object, or an upload in parts, whose id is in `version_id`; size in bytes."""

    kind: str
    key: str
    version_id: str
    size: int


class DoomedPage(NamedTuple):
    """What a page lists, and the markers of the next one, empty at the end."""

    items: list[Doomed]
    next: tuple[str, ...]


def list_versions(bucket: str, prefix: str, after: Sequence[str] = ()) -> DoomedPage:
    """Return up to PAGE versions and delete markers after the markers. Raises StorageUnavailableError."""
    markers: Any = dict(zip(("KeyMarker", "VersionIdMarker"), after, strict=False))
    try:
        page: Any = s3().list_object_versions(Bucket=bucket, Prefix=prefix, MaxKeys=PAGE, **markers)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc
    found = [Doomed(VERSIONS, each["Key"], each["VersionId"], each["Size"]) for each in page.get("Versions", [])]
    found += [Doomed(MARKERS, each["Key"], each["VersionId"], 0) for each in page.get("DeleteMarkers", [])]
    return DoomedPage(found, _get_next(page, "NextKeyMarker", "NextVersionIdMarker"))


def list_uploads(bucket: str, prefix: str, after: Sequence[str] = ()) -> DoomedPage:
    """Return up to PAGE uploads in parts after the markers. Raises StorageUnavailableError."""
    markers: Any = dict(zip(("KeyMarker", "UploadIdMarker"), after, strict=False))
    try:
        page: Any = s3().list_multipart_uploads(Bucket=bucket, Prefix=prefix, MaxUploads=PAGE, **markers)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc
    found = [Doomed(UPLOADS, each["Key"], each["UploadId"], 0) for each in page.get("Uploads", [])]
    return DoomedPage(found, _get_next(page, "NextKeyMarker", "NextUploadIdMarker"))


def _get_next(page: Any, *names: str) -> tuple[str, ...]:
    return tuple(page[name] for name in names if page.get(name)) if page.get("IsTruncated") else ()


def delete_all(bucket: str, items: Sequence[Doomed]) -> list[Doomed]:
    """Delete up to PAGE versions and markers, and abort uploads; return those that S3 refuses to delete.

    Raises StorageUnavailableError for any other failure.
    """
    try:
        for each in items:
            if each.kind == UPLOADS:
                _abort(bucket, each)
        named = [each for each in items if each.kind != UPLOADS]
        return _delete(bucket, named) if named else []
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc


def _delete(bucket: str, items: Sequence[Doomed]) -> list[Doomed]:
    objects: Any = [{"Key": each.key, "VersionId": each.version_id} for each in items]
    errors: Any = s3().delete_objects(Bucket=bucket, Delete={"Objects": objects, "Quiet": True}).get("Errors", [])
    failed = [each for each in errors if each["Code"] not in _GONE]
    if any(each["Code"] != _LOCKED for each in failed):
        raise StorageUnavailableError(f"{len(failed)} of {len(items)} objects were not deleted.")
    locked = {(each["Key"], each["VersionId"]) for each in failed}
    return [each for each in items if (each.key, each.version_id) in locked]


def _abort(bucket: str, upload: Doomed) -> None:
    try:
        s3().abort_multipart_upload(Bucket=bucket, Key=upload.key, UploadId=upload.version_id)
    except ClientError as exc:
        if exc.response["Error"]["Code"] not in _GONE:
            raise


def find_lock(bucket: str, item: Doomed) -> tuple[bool, datetime | None]:
    """Return whether a version is locked, and until when its retention lasts, None for a legal hold alone.

    Raises StorageUnavailableError, also if S3 does not allow to read it.
    """
    try:
        head: Any = s3().head_object(Bucket=bucket, Key=item.key, VersionId=item.version_id)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc
    until = head.get("ObjectLockRetainUntilDate")
    return until is not None or head.get("ObjectLockLegalHoldStatus") == "ON", until
