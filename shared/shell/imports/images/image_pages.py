"""Count the pages of the images that a chunk names, by opening them.

Guaranteed: a file is one version, so its count is stored and not repeated, also if the chunk is; what was counted
before S3 fails or the time is over is stored. One statement reads and one writes for each FILES_AT_ONCE files. Memory
does not grow with the files. Not guaranteed: that images can be shown: of TIFF and PDF files only what their number of
pages needs is read, of others their first bytes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from sqlalchemy import select, text

from core.errors import FileRefusedError, StorageUnavailableError
from core.volumes.linking import NamedFiles
from core.volumes.paths import Resolved
from shell.aws.clients import S3_CONNECTIONS
from shell.aws.s3 import ObjectVersion
from shell.db.session import session
from shell.deadline import seconds_left
from shell.tables.imports import Imports
from shell.tables.volumes import VolumeFiles, Volumes
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.page_counts import UncountableError, count_pages

FILES_AT_ONCE = 5_000
# By the id of the file; None for one that cannot be opened.
PageCounts = Mapping[int, int | None]
_FILE_COLUMNS = (VolumeFiles.id, VolumeFiles.path, VolumeFiles.size, VolumeFiles.version_id, VolumeFiles.page_count)
_SAVE = text("""
    UPDATE JSON_TABLE(:counts, '$[*]' COLUMNS (id BIGINT PATH '$[0]', pages INT PATH '$[1]')) AS counted
    STRAIGHT_JOIN volume_files AS file FORCE INDEX (PRIMARY) ON file.id = counted.id
    SET file.page_count = counted.pages
""")


def count_images(import_record: Imports, images: NamedFiles) -> PageCounts:
    """Return the number of pages of the images that were found.

    Raises StorageUnavailableError, also when the invocation's time is over: a retry goes on with what is stored.
    """
    ids = sorted({each.file.id for each in images.values() if isinstance(each, Resolved)})
    counts: dict[int, int | None] = {}
    for start in range(0, len(ids), FILES_AT_ONCE):
        prefix, rows = _read_files(import_record.volume_id or 0, ids[start : start + FILES_AT_ONCE])
        counts |= {row.id: row.page_count for row in rows}
        counts |= _count(import_record.bucket, prefix, [row for row in rows if row.page_count is None])
    return counts


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_files(volume_id: int, ids: Sequence[int]) -> tuple[str, Sequence[Any]]:
    with session() as reading:
        prefix = reading.get_one(Volumes, volume_id).prefix
        statement = select(*_FILE_COLUMNS).where(VolumeFiles.volume_id == volume_id, is_in(VolumeFiles.id, ids))
        return prefix, reading.execute(statement.order_by(VolumeFiles.id)).all()


def _count(bucket: str, prefix: str, rows: Sequence[Any]) -> dict[int, int | None]:
    """Count files, several at a time, and store the counts."""
    counts: dict[int, int | None] = {}
    # The deadline is a context variable, which the threads of the pool do not inherit.
    count = partial(_count_file, bucket, prefix, time.monotonic() + seconds_left())
    try:
        with ThreadPoolExecutor(S3_CONNECTIONS) as pool:
            for row, pages in zip(rows, pool.map(count, rows), strict=True):
                counts[row.id] = pages
    finally:
        _save((file_id, pages) for file_id, pages in counts.items() if pages is not None)
    return counts


def _count_file(bucket: str, prefix: str, ends_at: float, row: Any) -> int | None:
    if time.monotonic() > ends_at:
        raise StorageUnavailableError("The invocation's time is over.")
    try:
        return count_pages(ObjectVersion(bucket, prefix + row.path, row.version_id, None).read, row.size)
    # Damaged, or the version was deleted.
    except (UncountableError, FileRefusedError):
        return None


def _save(counts: Iterable[tuple[int, int]]) -> None:
    if stored := sorted(counts):
        _save_counts(json.dumps(stored))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _save_counts(counts: str) -> None:
    with session() as transaction:
        transaction.execute(_SAVE, {"counts": counts})
