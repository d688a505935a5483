"""moto's listings of a bucket, read from the storage a page at a time."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import islice
from typing import Any

from moto.s3.exceptions import BadRequest
from moto.s3.models import S3Backend

from local.storage.moto_objects import StoredObjects, as_method
from local.storage.stored_keys import StoredKey, StoredMarker

# After every name with the same beginning.
_LAST = chr(0x10FFFF)
_PAGE = 1_000


class StoredListings:
    """The listings of moto's S3 backend, which they replace by `install`."""

    def __init__(self, objects: StoredObjects) -> None:
        self._objects, self._versions = objects, objects.versions

    def install(self) -> None:
        """Replace moto's operations, in this process."""
        backend: Any = S3Backend
        for name in ("list_objects", "list_objects_v2", "list_object_versions"):
            setattr(backend, name, as_method(getattr(self, name)))

    def list_objects_v2(
        self,
        backend: Any,
        bucket: Any,
        prefix: str | None,
        delimiter: str | None,
        continuation_token: str | None,
        start_after: str | None,
        max_keys: int,
    ) -> tuple[list[Any], bool, str | None]:
        """Return a page of objects and folders, whether more follow, and the token of the next page."""
        after = base64.b64decode(continuation_token).decode() if continuation_token else start_after or ""
        walk = self._walk(backend, bucket, prefix or "", delimiter, after)
        found = list(islice(walk, max_keys + 1 if max_keys else 0))
        if len(found) <= max_keys:
            return found, False, None
        token = base64.b64encode(_name(found[max_keys - 1]).encode()).decode()
        return found[:max_keys], True, token

    def list_objects(
        self,
        backend: Any,
        bucket: Any,
        prefix: str | None,
        delimiter: str | None,
        marker: str | None,
        max_keys: int | None,
    ) -> tuple[list[Any], list[str], bool, str | None]:
        """Return a page of objects, its folders, whether more follow, and the marker of the next page."""
        limit = _PAGE if max_keys is None else max_keys
        found, more, _ = self.list_objects_v2(backend, bucket, prefix, delimiter, None, marker, limit)
        keys = [each for each in found if not isinstance(each, str)]
        folders = [each for each in found if isinstance(each, str)]
        return keys, folders, more, _name(found[-1]) if more else None

    def list_object_versions(
        self,
        backend: Any,
        bucket_name: str,
        delimiter: str | None = None,
        key_marker: str | None = None,
        max_keys: int | None = 1000,
        prefix: str = "",
        version_id_marker: str | None = None,
    ) -> tuple[list[StoredKey], list[str], list[StoredMarker], str | None, str | None]:
        """Return a page of versions and markers, and the markers of the next page; folders are not supported."""
        if delimiter:
            raise BadRequest("The local S3 lists versions without a delimiter only.")
        bucket, limit = backend.get_bucket(bucket_name), max_keys or 0
        rows = self._versions.list_all(bucket_name, prefix, (key_marker or "", version_id_marker), limit + 1)
        keys, markers = list[StoredKey](), list[StoredMarker]()
        for version, is_latest in rows[:limit]:
            found: Any = (
                StoredMarker(version) if version.content is None else self._objects.read(backend, bucket, version, [])
            )
            found.is_latest = is_latest
            (markers if version.content is None else keys).append(found)
        last = rows[limit - 1][0] if len(rows) > limit > 0 else None
        return keys, [], markers, last and last.name, last and last.version

    def _walk(
        self, backend: Any, bucket: Any, prefix: str, delimiter: str | None, after: str
    ) -> Iterator[StoredKey | str]:
        """Yield objects, and each folder once, in the order of their names."""
        while True:
            for version in self._versions.walk_latest(bucket.name, prefix, after):
                rest, found, _ = version.name[len(prefix) :].partition(delimiter or "\0")
                if delimiter and found:
                    folder = prefix + rest + delimiter
                    if folder != after:
                        yield folder
                    after = folder + _LAST
                    break
                yield self._objects.read(backend, bucket, version, [])
            else:
                return


def _name(found: StoredKey | str) -> str:
    return found if isinstance(found, str) else str(found.name)
