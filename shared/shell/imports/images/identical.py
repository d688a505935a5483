"""Find documents whose pages in another volume are the same, so that importing them again changes nothing.

Guaranteed: pages are the same only if keys, order, places in the files and rotations are, and every image has the
SHA-256 that S3 or the expansion of a zip has computed of the other one, which is still in the bucket. It only reads,
before the transaction of the chunk: page sets are never changed. Not guaranteed: that equal images are found to be
equal; those without a SHA-256 of the whole are not read.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.load_file.layout import Layout
from core.load_mode import OverlayKey
from shell.aws.clients import S3_CONNECTIONS
from shell.aws.new_objects import find_object
from shell.db.session import session
from shell.exhibits.updates import find_by_key
from shell.imports.images.documents import ReadDocument
from shell.tables.imports import Imports
from shell.tables.pages import Pages, PageSets
from shell.tables.volumes import VolumeFiles, Volumes
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.key_validation import is_storable

_PAGE = (Pages.page_set_id, Pages.image_key, Pages.page_in_file, Pages.rotation, Pages.file_id, VolumeFiles.size)
_FILE = (VolumeFiles.id, VolumeFiles.version_id, VolumeFiles.sha256, (Volumes.prefix + VolumeFiles.path).label("key"))


class _Alike(NamedTuple):
    """A document, the page set that its exhibit has, and the files of both, page by page."""

    read: ReadDocument
    page_set_id: int
    files: Sequence[tuple[int, int]]


def mark_identical(import_record: Imports, layout: Layout, documents: Sequence[ReadDocument]) -> None:
    """Note on each document the page set of another volume that its exhibit has, if the pages are the same.

    Raises StorageUnavailableError if S3 fails.
    """
    alike = _find_alike(import_record, layout, documents) if import_record.volume_id is not None else []
    digests = _read_digests(import_record.bucket, {file for each in alike for pair in each.files for file in pair})
    for read, page_set_id, files in alike:
        if all(digests[old] is not None and digests[old] == digests[new] for old, new in files):
            read.same_as = page_set_id


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find_alike(import_record: Imports, layout: Layout, documents: Sequence[ReadDocument]) -> list[_Alike]:
    """Return the documents whose pages differ from those of their exhibits in the volume alone, by what is stored."""
    key = OverlayKey(str(layout.image_key))
    complete = {read.document.key: read for read in documents if not read.error and all(read.files)}
    keys = [each for each in complete if is_storable(each, "exhibits", key.value)]
    with session() as reading:
        found = find_by_key(reading, import_record.case_id, key, set(keys), any_number=layout.any_number)
        exhibits = {value: each[0].page_set_id for value, each in found.items() if len(each) == 1}
        held = {page_set_id: complete[value] for value, page_set_id in exhibits.items() if page_set_id is not None}
        rows = _read_pages(reading, import_record, sorted(held)) if held else []
    pages = [(page_set_id, list(of)) for page_set_id, of in groupby(rows, lambda row: row.page_set_id)]
    return [
        _Alike(held[page_set_id], page_set_id, _pair_files(held[page_set_id], of))
        for page_set_id, of in pages
        if _are_alike(held[page_set_id], of)
    ]


def _read_pages(reading: Session, import_record: Imports, page_set_ids: Sequence[int]) -> Sequence[Any]:
    """Return the pages of those of the page sets that are of another volume, in their order."""
    statement = select(*_PAGE).join(PageSets, PageSets.id == Pages.page_set_id)
    statement = statement.join(VolumeFiles, VolumeFiles.id == Pages.file_id, isouter=True)
    statement = statement.where(PageSets.volume_id != import_record.volume_id, is_in(PageSets.id, page_set_ids))
    return reading.execute(statement.order_by(Pages.page_set_id, Pages.page_no)).all()


def _are_alike(read: ReadDocument, rows: Sequence[Any]) -> bool:
    stored = [(row.image_key, row.page_in_file, row.rotation, row.size) for row in rows]
    pages = zip(read.document.pages, read.files, strict=True)
    return stored == [(page.image_key, page.page_in_file, page.rotation, file and file.size) for page, file in pages]


def _pair_files(read: ReadDocument, rows: Sequence[Any]) -> list[tuple[int, int]]:
    return [(row.file_id, file.id) for row, file in zip(rows, read.files, strict=False) if file]


def _read_digests(bucket: str, ids: Collection[int]) -> Mapping[int, bytes | None]:
    """Return the SHA-256 of each file; None for one that is not in the bucket, or has none."""
    rows = _read_files(sorted(ids)) if ids else []
    with ThreadPoolExecutor(S3_CONNECTIONS) as pool:
        return dict(zip((row.id for row in rows), pool.map(partial(_read_digest, bucket), rows), strict=True))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_files(ids: Sequence[int]) -> Sequence[Any]:
    statement = select(*_FILE).join(Volumes, Volumes.id == VolumeFiles.volume_id)
    with session() as reading:
        return reading.execute(statement.where(is_in(VolumeFiles.id, ids))).all()


def _read_digest(bucket: str, row: Any) -> bytes | None:
    found = find_object(bucket, row.key, row.version_id)
    return (row.sha256 or found.sha256) if found else None
