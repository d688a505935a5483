"""Write the error file of an import: the rejected records after the source's header, each with its line.

Guaranteed: the records come in file order and are read from the source version in few requests; a large one is read
and written in parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import tee
from typing import Any, NamedTuple

from core.codes import Rejection
from core.imports.error_file import format_header, format_record, format_records
from core.imports.report_files import ReadWindow, group_ranges
from core.load_file.grammar import MAX_RECORD_BYTES
from core.load_file.layout import Layout
from shell.aws.s3 import ObjectVersion
from shell.imports.completing.boundary_flags import BoundaryFlags
from shell.tables.imports import Imports

COPY_BYTES = 8_000_000


def format_rejected_rows(import_record: Imports, rejections: Iterable[Any]) -> Iterator[bytes]:
    """Yield the error file for the rows of `import_rejections`, given in file order.

    Raises FileRefusedError (SOURCE_GONE) if the source version was deleted.
    """
    layout = Layout.from_json(import_record.layout or "{}")
    source = ObjectVersion(import_record.bucket, import_record.object_key, import_record.version_id, import_record.etag)
    yield format_header(source.read(0, layout.body_start), layout)
    # One of the two is ahead of the other by the records of a window: messages are not kept for them.
    first, again = tee(_locate(rejection) for rejection in rejections if rejection.seq == 0)
    records = (
        record for window in group_ranges(each.bytes for each in first) for record in _read_records(source, window)
    )
    flags = BoundaryFlags(import_record.id, layout)
    for place, record in zip(again, records, strict=True):
        yield from _format_record(place, flags.write(place.line_no, record), layout)


class _Place(NamedTuple):
    """The first line and the bytes [start, end) of a rejected record, or of all records of a failed chunk."""

    line_no: int
    bytes: tuple[int, int]
    is_chunk: bool


def _locate(rejection: Any) -> _Place:
    is_chunk = rejection.code == Rejection.CHUNK_FAILED and rejection.byte_len <= MAX_RECORD_BYTES
    return _Place(rejection.line_no, (rejection.byte_start, rejection.byte_start + rejection.byte_len), is_chunk)


def _format_record(place: _Place, record: Iterable[bytes], layout: Layout) -> Iterator[bytes]:
    """Yield the text of a rejected record, or of all records of a failed chunk."""
    if place.is_chunk:
        return format_records(b"".join(record), layout, place.line_no)
    return format_record(record, layout, place.line_no)


def _read_records(source: ObjectVersion, window: ReadWindow) -> Iterator[Iterable[bytes]]:
    """Yield the records of a window from one read; a single large record is read in parts."""
    if len(window.ranges) == 1:
        starts = range(window.start, window.end, COPY_BYTES)
        yield (source.read(at, min(window.end, at + COPY_BYTES)) for at in starts)
        return
    raw = source.read(window.start, window.end)
    yield from ([raw[start - window.start : end - window.start]] for start, end in window.ranges)
