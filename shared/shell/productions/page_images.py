"""Decide how many pages the images of the selected documents have, from the images.

Guaranteed: a page set is never changed, and a file of a volume is one version, so a count stays right: it is stored and
not repeated. Images that cannot be produced as a whole are findings.
Not guaranteed: that the file of a single page among others has one page only (`core.productions.images`).
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import func, select, text

from core.errors import ConflictError, InvalidInputError, StorageUnavailableError
from core.productions.findings import FindingCode
from core.productions.images import ImageLayout, PageImage, decide_layout, list_files_to_count
from core.productions.volume import resolve_source_key
from core.slices import slice_by_size
from shell.aws.clients import S3_CONNECTIONS
from shell.aws.s3 import ObjectVersion, find_current_version
from shell.db.session import session
from shell.deadline import seconds_left
from shell.productions.sources import FILE, PATH, VERSION, SourceFile, list_volume_files
from shell.settings import settings
from shell.tables.pages import Pages, PageSets
from shell.tables.volumes import VolumeFiles
from shell.utils.db_helpers import is_in, rerun_if_unknown, retry_on_db_conflict
from shell.utils.page_counts import UncountableError, count_pages

BATCH, PAGES_AT_ONCE, FILES_AT_ONCE = 2_000, 100_000, 500
# No path contains it: paths with control characters are refused.
_FILE_SIGN = "\0"
_SAVE_COUNT = text("UPDATE volume_files SET page_count = :pages WHERE id = :file_id")
_FACTS = (
    *(PageSets.id, PageSets.page_count, PageSets.declared_count, func.count().label("pages")),
    (
        func.count(Pages.file_id.distinct())
        + func.count(func.if_(Pages.file_id.is_(None), Pages.path, None).distinct())
    ).label("files"),
    func.max(Pages.page_in_file).label("last_page"),
    func.sum(
        func.if_(
            Pages.file_id.is_(None),
            Pages.path.is_(None) | PageSets.volume_id.is_not(None),
            VolumeFiles.version_id.is_(None),
        )
    ).label("missing"),
)


class DocumentImages(NamedTuple):
    """The pages of a page set, and the one file that has all of them as it is stored; None for a file for each page."""

    pages: int
    stored: Any | None


class CountedFile(NamedTuple):
    """How a file is stored with a production, and its pages, or why it has none; None if they were not counted."""

    stored: Any
    pages: int | FindingCode | None


class PlannedImages(NamedTuple):
    """The images by page set, findings with ids of page sets, and page sets with files that were not counted.

    Each of the latter has the number of pages that its load file lists.
    """

    images: dict[int, DocumentImages]
    findings: list[tuple[FindingCode, int]]
    uncounted: dict[int, int]


Counter = Callable[[Sequence[str], Mapping[int, SourceFile]], dict[str, CountedFile]]


def plan_images(page_set_ids: Sequence[int], count: Counter) -> PlannedImages:
    """Return how the images of the page sets are produced; `count` counts the pages of files with several.

    Raises what `count` raises, and ConflictError, to be retried with another selection, if an undo has removed pages.
    """
    planned = PlannedImages({}, [], {})
    for start in range(0, len(page_set_ids), BATCH):
        batch = page_set_ids[start : start + BATCH]
        facts = _read_facts(batch)
        for part in slice_by_size(batch, partial(_count_unclear, facts), PAGES_AT_ONCE):
            _plan_part(part, facts, count, planned)
    return planned


def _count_unclear(facts: Mapping[int, Any], page_set_id: int) -> int:
    """Return how many pages of a page set are read one by one."""
    row = facts.get(page_set_id)
    return 0 if row is None or row.missing or _is_file_a_page(row) else int(row.pages)


def _plan_part(page_set_ids: Sequence[int], facts: Mapping[int, Any], count: Counter, planned: PlannedImages) -> None:
    unclear = [each for each in page_set_ids if _count_unclear(facts, each)]
    images, known = _read_images(unclear)
    removed = {*page_set_ids} - facts.keys() | {*unclear} - images.keys()
    files = dict.fromkeys(file for pages in images.values() for file in list_files_to_count(pages))
    counts = count(list(files), known) if files else {}
    for page_set_id in page_set_ids:
        if page_set_id in removed:
            raise ConflictError("The pages of an exhibit were removed while they were being counted.")
        row = facts[page_set_id]
        if row.missing:
            planned.findings.append((FindingCode.FILE_MISSING, page_set_id))
            continue
        found = _decide(images[page_set_id], counts) if page_set_id in images else DocumentImages(row.pages, None)
        if found is None:
            planned.uncounted[page_set_id] = max(row.pages, row.declared_count or 0)
            continue
        if isinstance(found, FindingCode):
            planned.findings.append((found, page_set_id))
            continue
        planned.images[page_set_id] = found
        if {row.page_count, row.declared_count} - {None, found.pages}:
            planned.findings.append((FindingCode.PAGE_COUNT, page_set_id))


def _decide(images: Sequence[PageImage], counts: Mapping[str, CountedFile]) -> DocumentImages | FindingCode | None:
    counted = {file: counts[file].pages for file in list_files_to_count(images)}
    for result in counted.values():
        if isinstance(result, FindingCode):
            return result
    pages = {file: result for file, result in counted.items() if isinstance(result, int)}
    if len(pages) < len(counted):
        return None
    layout = decide_layout(images, pages)
    if isinstance(layout, ImageLayout):
        return DocumentImages(layout.pages, counts[images[0].file].stored if layout.is_one_file else None)
    return layout


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_facts(page_set_ids: Sequence[int]) -> dict[int, Any]:
    statement = select(*_FACTS).join(Pages, Pages.page_set_id == PageSets.id)
    statement = statement.outerjoin(VolumeFiles, VolumeFiles.id == Pages.file_id)
    statement = statement.where(is_in(PageSets.id, page_set_ids)).group_by(PageSets.id)
    with session() as reading:
        return {row.id: row for row in reading.execute(statement)}


def _is_file_a_page(row: Any) -> bool:
    return bool(row.pages == row.files > 1 and not row.last_page)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_images(page_set_ids: Sequence[int]) -> tuple[dict[int, list[PageImage]], dict[int, SourceFile]]:
    """Return the pages of page sets, and the files of volumes that they are in."""
    images: dict[int, list[PageImage]] = defaultdict(list)
    file_ids: set[int] = set()
    if not page_set_ids:
        return {}, {}
    columns = (Pages.page_set_id, Pages.file_id, Pages.path, Pages.page_in_file)
    statement = select(*columns).where(is_in(Pages.page_set_id, page_set_ids))
    with session() as reading:
        for page in reading.execute(statement.order_by(Pages.page_set_id, Pages.page_no)):
            file = page.path if page.file_id is None else f"{_FILE_SIGN}{page.file_id}"
            images[page.page_set_id].append(PageImage(file or "", page.page_in_file))
            if page.file_id is not None:
                file_ids.add(page.file_id)
        return images, list_volume_files(reading, file_ids)


def count_files(
    tenant_id: str, case: str, files: Sequence[str], known: Mapping[int, SourceFile]
) -> dict[str, CountedFile]:
    """Count the pages of the files whose count is not stored, and store those of files of volumes.

    Raises StorageUnavailableError, also when the invocation's time is over: a retry continues with what is stored.
    """
    counted = {file: result for file in files if (result := get_stored_count(file, known)) is not None}
    missing = [file for file in files if file not in counted]
    # The deadline is a context variable, which the threads of the pool do not inherit.
    ends_at = time.monotonic() + seconds_left()
    with ThreadPoolExecutor(S3_CONNECTIONS) as pool:
        for start in range(0, len(missing), FILES_AT_ONCE):
            batch = missing[start : start + FILES_AT_ONCE]
            results = list(pool.map(partial(_count_file, tenant_id, case, known, ends_at), batch))
            counted.update(zip(batch, results, strict=True))
            _save_counts(results)
    return counted


def get_stored_count(file: str, known: Mapping[int, SourceFile]) -> CountedFile | None:
    """Return the count of a file of a volume if it is stored."""
    if not file.startswith(_FILE_SIGN):
        return None
    file_id = int(file.removeprefix(_FILE_SIGN))
    pages = known[file_id].page_count
    return None if pages is None else CountedFile({FILE: file_id}, pages)


def _count_file(tenant_id: str, case: str, known: Mapping[int, SourceFile], ends_at: float, file: str) -> CountedFile:
    if time.monotonic() > ends_at:
        raise StorageUnavailableError("The invocation's time is over.")
    try:
        stored, version, size = _find_object(tenant_id, case, known, file)
        return CountedFile(stored, count_pages(version.read, size))
    except UncountableError:
        return CountedFile(None, FindingCode.IMAGE_UNREADABLE)
    # The version is gone, or a loose file's path leads out of the case or to nothing.
    except InvalidInputError:
        return CountedFile(None, FindingCode.FILE_MISSING)


def _find_object(
    tenant_id: str, case: str, known: Mapping[int, SourceFile], file: str
) -> tuple[Any, ObjectVersion, int]:
    """Return how the file is stored with a production, its version and its size. Raises InvalidInputError."""
    bucket = settings().bucket
    if file.startswith(_FILE_SIGN):
        file_id = int(file.removeprefix(_FILE_SIGN))
        source = known[file_id]
        return {FILE: file_id}, ObjectVersion(bucket, source.key or "", source.version_id, None), source.size or 0
    version, size = find_current_version(bucket, resolve_source_key(tenant_id, case, file))
    return {PATH: file, VERSION: version.version_id}, version, size


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _save_counts(results: Sequence[CountedFile]) -> None:
    rows = [
        {"file_id": each.stored[FILE], "pages": each.pages}
        for each in results
        if each.stored and FILE in each.stored and isinstance(each.pages, int)
    ]
    if rows:
        with session() as transaction:
            transaction.execute(_SAVE_COUNT, sorted(rows, key=lambda row: row["file_id"]))
