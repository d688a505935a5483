"""Delete what the lifecycle rules of a bucket let expire, as S3 does once a day.

Guaranteed: an object that expires gets a delete marker, a version is deleted so many days after it was superseded, a
marker that hides nothing goes with it, and an upload that was not completed is aborted. Not guaranteed: the hour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from uuid import uuid4

from local.storage.storage import Storage
from local.storage.stored_keys import read_time, write_time
from local.storage.uploads import Uploads
from local.storage.versions import COLUMNS, Version, Versions, read_version
from local.template.model import Expiry

_PAGE = 1_000
# When a version was superseded by the next one; NULL for the latest.
_SUPERSEDED = (
    "(SELECT n.created FROM versions n WHERE n.bucket = v.bucket AND n.name = v.name AND n.seq > v.seq"
    " ORDER BY n.seq LIMIT 1)"
)


class Lifecycle:
    """The rules of a bucket, applied to a storage."""

    def __init__(self, storage: Storage, bucket: str, rules: Iterable[Mapping[str, Any]]) -> None:
        self._storage, self._bucket = storage, bucket
        self._rules = [Expiry(**rule) for rule in rules]
        self._versions, self._uploads = Versions(storage), Uploads(storage)

    def apply(self, now: str | None = None) -> None:
        """Apply the rules as of a time, by default the current one."""
        for rule in self._rules:
            moment = read_time(now or write_time())
            for days, expire in (
                (rule.days, self._hide),
                (rule.noncurrent_days, self._delete_superseded),
                (rule.upload_days, self._abort),
            ):
                if days is not None:
                    expire(rule.prefix, (moment - timedelta(days=days)).isoformat(timespec="microseconds"))
        self._storage.delete_doomed()

    def _hide(self, prefix: str, before: str) -> None:
        latest = "seq = (SELECT MAX(seq) FROM versions o WHERE o.bucket = v.bucket AND o.name = v.name)"
        found: list[Version] | None = None
        while found is None or found:
            with self._storage.index.transaction():
                # Without other writers, so that no version comes between its listing and its marker.
                self._storage.index.begin()
                found = self._list(f"created < ? AND content IS NOT NULL AND {latest}", prefix, before)
                for version in found:
                    marker = Version(0, version.name, str(uuid4()), None, 0, "", write_time(), {})
                    self._versions.add(self._bucket, marker)
        alone = "NOT EXISTS (SELECT 1 FROM versions o WHERE o.bucket = v.bucket AND o.name = v.name AND o.seq < v.seq)"
        self._delete_all(f"created < ? AND content IS NULL AND {alone}", prefix, before)

    def _delete_superseded(self, prefix: str, before: str) -> None:
        self._delete_all(f"{_SUPERSEDED} < ?", prefix, before)

    def _delete_all(self, condition: str, prefix: str, before: str) -> None:
        while found := self._list(condition, prefix, before):
            with self._storage.index.transaction():
                self._versions.delete(found)

    def _list(self, condition: str, prefix: str, before: str) -> list[Version]:
        query = (
            f"SELECT {COLUMNS} FROM versions v"  # noqa: S608 - constants
            f" WHERE bucket = ? AND substr(name, 1, ?) = ? AND {condition} LIMIT {_PAGE}"
        )
        rows = self._storage.index.read(query, self._bucket, len(prefix), prefix, before)
        return [read_version(row) for row in rows]

    def _abort(self, prefix: str, before: str) -> None:
        for upload in self._uploads.list_of(self._bucket):
            if upload.created < before and upload.name.startswith(prefix):
                with self._storage.index.transaction():
                    self._uploads.delete(upload.id)
