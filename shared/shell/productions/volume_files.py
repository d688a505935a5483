"""Copy the files of a production into its volume, write slip sheets, and delete all objects of a production.

Guaranteed: S3 copies a file itself, one version of it, completely or not at all; copying again is harmless. The
manifest says what S3 or this module read: the size and the SHA-256 of each copy. A copy whose SHA-256 is not that
of its file in the volume, where that is known, fails the production. After a deletion no version of any of its objects
is left. One error names all exhibits of a part whose files cannot be copied.
Not guaranteed: that a loose file's content matches its load file, which is never checked; or that a copy that S3 was
still making when the function was stopped does not appear after the deletion.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

from core.errors import InvalidInputError, StorageUnavailableError
from core.named_lists import format_ids
from core.productions.volume import (
    FileKind,
    build_file_path,
    build_production_prefix,
    format_manifest_line,
    resolve_source_key,
)
from shell.aws.clients import S3_CONNECTIONS
from shell.aws.s3 import ObjectVersion, delete_prefix, write_object
from shell.aws.s3_copies import CopiedObject, copy_object, copy_version
from shell.deadline import seconds_left
from shell.productions.documents import DocumentToProduce
from shell.productions.images import ProducedImage, list_images
from shell.productions.packed_texts import PackedText, group_texts, read_window, write_text
from shell.productions.slip_sheets import build_slip_sheet
from shell.productions.sources import DELETED, SourceFile
from shell.settings import settings

_BAD_PATH, _CHANGED = "BadPath", "Changed"
_EXPLANATIONS = {
    "404": "not in the bucket",
    "NoSuchKey": "not in the bucket",
    "NoSuchVersion": "not in the bucket",
    _BAD_PATH: "with a path that leads out of the case's files",
    _CHANGED: "with other content than in their volume",
}


class FileCopy(NamedTuple):
    """A file to be copied, or a slip sheet to be written, and its path within the volume."""

    exhibit_id: int
    source: SourceFile | None
    path: str
    bates: str


class CopyContext(NamedTuple):
    """Whose files are copied, to which folder, and until when, by the monotonic clock."""

    tenant_id: str
    case: str
    folder: str
    ends_at: float


def copy_files(tenant_id: str, case: str, folder: str, documents: Sequence[DocumentToProduce]) -> bytes:
    """Copy the documents' files into the folder, except those that it already contains; return the manifest's lines.

    Raises InvalidInputError, which names up to 20 exhibits, after all other files are copied; and
    StorageUnavailableError, also when the invocation's time is over. A retry does not copy again what was copied.
    """
    images = list_images(documents)
    copies = [copy for each in documents for copy in _list_copies(each, images.get(each.exhibit.id, ()))]
    # The deadline is a context variable, which the threads of the pool do not inherit.
    context = CopyContext(tenant_id, case, folder, time.monotonic() + seconds_left())
    with ThreadPoolExecutor(S3_CONNECTIONS) as pool:
        written = _write_texts(pool, context, copies)
        others = iter(pool.map(partial(_copy, context), (copy for copy in copies if copy.path not in written)))
        results = [written[copy.path] if copy.path in written else next(others) for copy in copies]
    failures = [(copy.exhibit_id, each) for copy, each in zip(copies, results, strict=True) if isinstance(each, str)]
    if failures:
        raise InvalidInputError(_describe_failures(failures))
    return b"".join(
        format_manifest_line(copy.path, *each)
        for copy, each in zip(copies, results, strict=True)
        if isinstance(each, CopiedObject)
    )


def delete_files(production_id: int) -> None:
    """Delete every version of every object under the production's prefix. Raises StorageUnavailableError."""
    delete_prefix(settings().bucket, build_production_prefix(production_id))


def _list_copies(document: DocumentToProduce, images: Sequence[ProducedImage]) -> Iterator[FileCopy]:
    """Yield the document's files in the order of the manifest: native, text, images."""
    for kind in (FileKind.NATIVE, FileKind.TEXT):
        if kind in document.files:
            source = document.files[kind]
            path = build_file_path(kind, document.part, document.bates_begin, source.path)
            yield FileCopy(document.exhibit.id, source, path, document.bates_begin)
    for image in images:
        yield FileCopy(document.exhibit.id, image.source, image.path, image.bates)


def _write_texts(
    pool: ThreadPoolExecutor, context: CopyContext, copies: Sequence[FileCopy]
) -> dict[str, CopiedObject | str]:
    """Write the texts of cells, one object of them after the other; return what `_copy` would, by path."""
    texts = [
        PackedText(copy.source, context.folder + copy.path)
        for copy in copies
        if copy.source and copy.source.offset is not None
    ]
    results: dict[str, CopiedObject | str] = {}
    for window in group_texts(texts):
        _require_time(context)
        read = read_window(settings().bucket, window)
        done = (
            [read] * len(window)
            if isinstance(read, str)
            else pool.map(lambda each, data=read: write_text(settings().bucket, each, data[each.target]), window)
        )
        results.update(
            (each.target.removeprefix(context.folder), result) for each, result in zip(window, done, strict=True)
        )
    return results


def _require_time(context: CopyContext) -> None:
    if time.monotonic() > context.ends_at:
        raise StorageUnavailableError("The invocation's time is over.")


def _copy(context: CopyContext, copy: FileCopy) -> CopiedObject | str:
    """Copy one file; return what was copied, or S3's error code, `BadPath` or `Changed`, if it cannot be copied."""
    _require_time(context)
    bucket, target, source = settings().bucket, context.folder + copy.path, copy.source
    if source is None:
        body = build_slip_sheet(copy.bates)
        write_object(bucket, target, body, "application/pdf")
        return CopiedObject(len(body), hashlib.sha256(body).digest())
    if source == DELETED:
        return "404"
    if source.key is None:
        return _copy_loose(context, source, target)
    copied = copy_version(ObjectVersion(bucket, source.key, source.version_id, None), source.size or 0, target)
    if isinstance(copied, CopiedObject) and source.sha256 not in (None, copied.sha256):
        return _CHANGED
    return copied


def _copy_loose(context: CopyContext, source: SourceFile, target: str) -> CopiedObject | str:
    """Copy a loose file: the version whose pages were counted, or else the current one."""
    bucket = settings().bucket
    try:
        key = resolve_source_key(context.tenant_id, context.case, source.path)
    except InvalidInputError:
        return _BAD_PATH
    return copy_object(bucket, key, target, source.version_id)


def _describe_failures(failures: Sequence[tuple[int, str]]) -> str:
    """Return a message with ids and counts; the API puts control numbers in the place of the ids."""
    exhibits = list(dict.fromkeys(exhibit_id for exhibit_id, _ in failures))
    counts = Counter(code for _, code in failures)
    reasons = ", ".join(f"{count} {_EXPLANATIONS.get(code, code)}" for code, count in counts.items())
    return (
        f"Files of exhibits {format_ids(exhibits)} cannot be copied: {reasons}. The numbers are void. Restore the "
        "files, check (POST /productions/check), and request a new production."
    )
