"""Copy objects between the storages of two stacks of this machine, as S3 Batch Replication does between buckets.

Guaranteed: a copy has the version id, bytes, checksums, time and metadata of its original, and of one key the order of
the versions is kept. No notification is sent. A version that is there is left as it is, so that a repetition copies
what is missing. Both servers may run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import Any

from local.storage.storage import Segment, Storage
from local.storage.versions import Version, Versions
from tools.tenants.moving.objects import ObjectVersion
from tools.tenants.moving.stacks import Stack


def copy_versions(manifest: dict[str, Any], target: Stack, listed: Iterable[ObjectVersion]) -> int:
    """Copy the versions of the listed keys to the target's storage; return how many were missing there."""
    source = Storage(Path(manifest["storage"]), beside=True)
    storage = Storage(Path(target.storage or ""), beside=True)
    with closing(source), closing(storage):
        keys = (key for key, _ in groupby(listed, key=lambda version: version.key))
        return sum(_copy_key(source, manifest["bucket"], storage, target.bucket, key) for key in keys)


def _copy_key(source: Storage, source_bucket: str, target: Storage, target_bucket: str, key: str) -> int:
    copied = 0
    for version in reversed(Versions(source).list_of(source_bucket, key)):
        if Versions(target).find(target_bucket, key, version.version) is None:
            _copy_version(source, target, target_bucket, version)
            copied += 1
    return copied


def _copy_version(source: Storage, target: Storage, bucket: str, version: Version) -> None:
    segments = source.read_segments(version.content) if version.content is not None else []
    copies = list(_copy_segments(source, target, segments))
    with target.index.transaction():
        content = None if version.content is None else target.add_content(copies)
        Versions(target).add(bucket, version._replace(content=content))


def _copy_segments(source: Storage, target: Storage, segments: Iterable[Segment]) -> Iterator[Segment]:
    """Yield segments of the target with the same bytes; parts of an object stay parts."""
    for segment in segments:
        draft = target.blobs.draft()
        try:
            for block in source.blobs.read(*segment):
                draft.write(block)
            yield Segment(draft.finish().blob, 0, segment.size)
        except BaseException:
            draft.discard()
            raise
