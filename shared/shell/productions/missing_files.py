"""Look for the files that a production will copy, before its numbers are reserved.

Guaranteed: a file that the database knows as deleted is found for every document; of all other files as many are looked
up in the bucket as the caller allows, in the order of the documents, and the rest is counted. Texts of cells are not
looked up: nothing deletes their objects.
Not guaranteed: that a file which is there now is there when it is copied.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

from core.errors import InvalidInputError, StorageRefusedError
from core.productions.volume import FileKind, resolve_source_key
from core.slices import slice_by_size
from shell.aws.clients import S3_CONNECTIONS
from shell.aws.s3 import ObjectVersion
from shell.db.session import session
from shell.deadline import seconds_left
from shell.productions.images import list_page_files
from shell.productions.selection import SelectedExhibit
from shell.productions.sources import DELETED, SourceFile, build_source, list_stored_files
from shell.settings import settings
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

FILES_AT_ONCE = 2_000


class MissingFiles(NamedTuple):
    """The ids of the exhibits of which a file is missing, and how many files were not looked up."""

    exhibit_ids: set[int]
    unchecked: int


def find_missing_files(tenant_id: str, case: str, exhibits: Sequence[SelectedExhibit], most: int) -> MissingFiles:
    """Look for the exhibits' files, at most `most` of them in the bucket and for at most half of the remaining time.

    A file that S3 refuses to give counts as missing. Raises StorageUnavailableError.
    """
    missing: set[int] = set()
    unchecked = 0
    # The deadline is a context variable, which the threads of the pool do not inherit.
    ends_at = time.monotonic() + seconds_left() / 2
    with ThreadPoolExecutor(S3_CONNECTIONS) as pool:
        for part in slice_by_size(exhibits, lambda each: each.objects, FILES_AT_ONCE, FILES_AT_ONCE):
            sources = list(_list_sources(part, with_pages=most > 0))
            missing |= {exhibit_id for exhibit_id, source in sources if source == DELETED}
            kept = [each for each in sources if each[1] != DELETED and each[1].offset is None]
            looked_up = kept[:most] if time.monotonic() < ends_at else []
            found = pool.map(partial(_is_there, tenant_id, case), (source for _, source in looked_up))
            missing |= {exhibit_id for (exhibit_id, _), there in zip(looked_up, found, strict=True) if not there}
            pages = 0 if most > 0 else sum(each.page_count or 0 for each in part if _has_page_files(each))
            unchecked += len(kept) - len(looked_up) + pages
            most -= len(looked_up)
    return MissingFiles(missing, unchecked)


def _list_sources(exhibits: Sequence[SelectedExhibit], *, with_pages: bool) -> Iterator[tuple[int, SourceFile]]:
    """Yield the files of the exhibits, and those of pages that have a file each."""
    known = _read_stored_files([file for each in exhibits for file in each.files.values()])
    sets = [each.page_set_id for each in exhibits if each.page_set_id and _has_page_files(each)]
    pages = list_page_files(sets) if sets and with_pages else {}
    for each in exhibits:
        yield from ((each.exhibit_id, build_source(file, known)) for file in each.files.values())
        if _has_page_files(each):
            yield from ((each.exhibit_id, source) for source in pages.get(each.page_set_id or 0, ()))


def _has_page_files(exhibit: SelectedExhibit) -> bool:
    return bool(exhibit.page_set_id and exhibit.page_count and FileKind.IMAGE not in exhibit.files)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_stored_files(stored: Sequence[Any]) -> Mapping[Any, SourceFile]:
    with session() as reading:
        return list_stored_files(reading, stored)


def _is_there(tenant_id: str, case: str, source: SourceFile) -> bool:
    try:
        key = source.key or resolve_source_key(tenant_id, case, source.path)
        ObjectVersion(settings().bucket, key, source.version_id, None).get_size()
    # No such object, a path that leads out of the case's files, or an object that S3 does not give.
    except (InvalidInputError, StorageRefusedError):
        return False
    return True
