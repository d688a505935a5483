"""Write the error file of an import: the rejected records after the source's header, each with its line.

Guaranteed: the records come in file order and are read from the source version in few requests; a large one is read
and written in parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import tee
from typing import Any

from core.codes import Rejection
from core.imports.error_file import format_header, format_record, format_records
from core.imports.report_files import ReadWindow, group_ranges
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.layout import Layout
from shell.aws.s3 import ObjectVersion
from shell.tables.imports import Imports

COPY_BYTES = 8_000_000


def format_rejected_rows(import_record: Imports, rejections: Iterable[Any]) -> Iterator[bytes]:
    """Yield the error file for the rows of `import_rejections`, given in file order.

    Raises FileRefusedError (SOURCE_GONE) if the source version was deleted.
    """
    layout = Layout.from_json(import_record.layout or "{}")
    source = ObjectVersion(import_record.bucket, import_record.object_key, import_record.version_id, import_record.etag)
    yield format_header(source.read(0, layout.body_start), layout)
    first, again = tee(rejection for rejection in rejections if rejection.seq == 0)
    ranges = ((each.byte_start, each.byte_start + each.byte_len) for each in first)
    records = (record for window in group_ranges(ranges) for record in _read_records(source, window))
    for rejection, record in zip(again, records, strict=True):
        yield from _format_record(rejection, record, layout)


def _format_record(rejection: Any, record: Iterable[bytes], layout: Layout) -> Iterator[bytes]:
    """Yield the text of a rejected record, or of all records of a failed chunk, which the rejection covers."""
    if rejection.code == Rejection.CHUNK_FAILED and rejection.byte_len <= MAX_RECORD_BYTES:
        return format_records(b"".join(record), layout, rejection.line_no)
    return format_record(record, layout, rejection.line_no)


def _read_records(source: ObjectVersion, window: ReadWindow) -> Iterator[Iterable[bytes]]:
    """Yield the records of a window from one read; a single large record is read in parts."""
    if len(window.ranges) == 1:
        starts = range(window.start, window.end, COPY_BYTES)
        yield (source.read(at, min(window.end, at + COPY_BYTES)) for at in starts)
        return
    raw = source.read(window.start, window.end)
    yield from ([raw[start - window.start : end - window.start]] for start, end in window.ranges)
