"""Copy the files of a production into its volume, and delete all of its objects.

Guaranteed: S3 copies a file itself, one version of it, completely or not at all; copying again is harmless. After a
deletion no version of any of the production's objects is left. One error names all exhibits of a part whose files
cannot be copied.
Not guaranteed: that a file's content matches its load file, which is never checked; or that a copy that S3 was still
making when the function was stopped does not appear after the deletion.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from core.errors import FilesMissingError, InvalidInputError, StorageUnavailableError, format_ids
from core.productions.volume import build_file_path, build_production_prefix, resolve_source_key
from shell.aws.clients import S3_CONNECTIONS
from shell.aws.s3 import copy_object, delete_prefix
from shell.deadline import seconds_left
from shell.productions.documents import DocumentToProduce
from shell.settings import settings

_BAD_PATH = "BadPath"
_EXPLANATIONS = {
    "404": "not in the bucket",
    "NoSuchKey": "not in the bucket",
    _BAD_PATH: "with a path that leads out of the case's files",
}


class FileCopy(NamedTuple):
    """A file to be copied; `source` is None where its path leads out of the case's files."""

    exhibit_id: int
    source: str | None
    target: str


def copy_files(tenant_id: str, case: str, folder: str, documents: Sequence[DocumentToProduce]) -> None:
    """Copy the documents' files into the folder, except those that it already contains.

    Raises FilesMissingError, which names up to 20 exhibits, after all other files are copied; and
    StorageUnavailableError, also when the invocation's time is over. A retry does not copy again what was copied.
    """
    copies = [copy for document in documents for copy in _list_copies(tenant_id, case, folder, document)]
    # The deadline is a context variable, which the threads of the pool do not inherit.
    ends_at = time.monotonic() + seconds_left()
    with ThreadPoolExecutor(S3_CONNECTIONS) as pool:
        codes = list(pool.map(partial(_copy, ends_at), copies))
    failures = [(copy.exhibit_id, code) for copy, code in zip(copies, codes, strict=True) if code]
    if failures:
        raise FilesMissingError(_describe_failures(failures))


def delete_files(production_id: int) -> None:
    """Delete every version of every object under the production's prefix. Raises StorageUnavailableError."""
    delete_prefix(settings().bucket, build_production_prefix(production_id))


def _list_copies(tenant_id: str, case: str, folder: str, document: DocumentToProduce) -> Iterator[FileCopy]:
    for kind, path in document.files.items():
        target = folder + build_file_path(kind, document.part, document.bates_begin, path)
        try:
            source = resolve_source_key(tenant_id, case, path)
        except InvalidInputError:
            source = None
        yield FileCopy(document.exhibit.id, source, target)


def _copy(ends_at: float, copy: FileCopy) -> str | None:
    """Copy one file; return S3's error code, or `BadPath`, if it cannot be copied."""
    if time.monotonic() > ends_at:
        raise StorageUnavailableError("the invocation's time is over")
    return _BAD_PATH if copy.source is None else copy_object(settings().bucket, copy.source, copy.target)


def _describe_failures(failures: Sequence[tuple[int, str]]) -> str:
    """Return a message with ids and counts; names of files and documents are only for readers of the case."""
    exhibits = list(dict.fromkeys(exhibit_id for exhibit_id, _ in failures))
    counts = Counter(code for _, code in failures)
    reasons = ", ".join(f"{count} {_EXPLANATIONS.get(code, code)}" for code, count in counts.items())
    return f"files of exhibits {format_ids(exhibits)} cannot be copied: {reasons}"
