"""List and delete the versions of the objects under a prefix, a page at a time.

Guaranteed: the pages go through the keys in one order, so that an object that is there throughout is listed exactly
once; of each object only the latest version is returned, and none if its latest is a delete marker.
Not guaranteed: that an object which is put while the pages are read is listed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from core.errors import StorageUnavailableError
from shell.aws.clients import s3

PAGE = 1_000


class ListedVersion(NamedTuple):
    """The latest version of an object; size in bytes."""

    key: str
    version_id: str | None
    etag: str
    size: int


class VersionPage(NamedTuple):
    """The objects of a page, and the markers of the next one, empty at the end."""

    objects: list[ListedVersion]
    next: tuple[str, ...]


def list_latest(bucket: str, prefix: str, after: tuple[str, ...] = ()) -> VersionPage:
    """Return the page after the markers. Raises StorageUnavailableError if S3 fails."""
    page = _list(bucket, prefix, after)
    found = [
        ListedVersion(each["Key"], _normalize(each["VersionId"]), each["ETag"].strip('"'), each["Size"])
        for each in page.get("Versions", [])
        if each["IsLatest"]
    ]
    return VersionPage(found, _get_markers(page))


def delete_page(bucket: str, prefix: str) -> int:
    """Delete up to PAGE versions and delete markers; return how many, 0 if none was left.

    Raises StorageUnavailableError if S3 fails, or does not delete one of them.
    """
    page = _list(bucket, prefix, ())
    found = [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
    if not found:
        return 0
    doomed: Any = {"Objects": [{"Key": e["Key"], "VersionId": e["VersionId"]} for e in found], "Quiet": True}
    try:
        failed = s3().delete_objects(Bucket=bucket, Delete=doomed).get("Errors")
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc
    if failed:
        raise StorageUnavailableError(f"{len(failed)} of {len(found)} objects were not deleted.")
    return len(found)


def delete_version(bucket: str, key: str, version_id: str | None) -> None:
    """Delete one version of an object; None: of a bucket without versions. Raises StorageUnavailableError."""
    version: Any = {} if version_id is None else {"VersionId": version_id}
    try:
        s3().delete_object(Bucket=bucket, Key=key, **version)
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc


def _list(bucket: str, prefix: str, after: tuple[str, ...]) -> dict[str, Any]:
    markers: Any = dict(zip(("KeyMarker", "VersionIdMarker"), after, strict=False))
    try:
        return dict(s3().list_object_versions(Bucket=bucket, Prefix=prefix, MaxKeys=PAGE, **markers))
    except (BotoCoreError, ClientError) as exc:
        raise StorageUnavailableError() from exc


def _get_markers(page: dict[str, Any]) -> tuple[str, ...]:
    if not page["IsTruncated"]:
        return ()
    version = page.get("NextVersionIdMarker")
    return (page["NextKeyMarker"], version) if version else (page["NextKeyMarker"],)


def _normalize(version_id: str) -> str | None:
    # What a bucket without versions answers.
    return None if version_id == "null" else version_id
