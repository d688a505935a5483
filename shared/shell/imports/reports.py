"""The report files of a finished import, in S3.

Guaranteed: the files depend on the import's rows alone, ordered by line and without a clock, so that writing them
twice is harmless; rejected rows are the bytes of the source version, after its own header, ready to be mended and
loaded again, and beside them lie the options that make them be read as the whole file was. Cells that a spreadsheet
would take for a formula are neutralised in the two CSV files, and only there.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import text

from core.errors import FileRefusedError
from core.load_file.layout import Layout
from core.report_keys import report_keys
from core.reporting import Window, neutralised, reload_options, windows
from shell.observability import logger
from shell.tables.imports import Imports
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.object_store import ObjectVersion, write_stream

PAGE = 5_000
COPY_BYTES = 8_000_000
REPORT_HEADER = ("line", "column", "code", "message", "id", "rows")
WARNINGS_HEADER = ("line", "column", "code", "message", "id", "original", "original_bytes", "stored_bytes")

_REJECTIONS = text(
    "SELECT line_no, seq, column_name, code, message, control_number, row_count, byte_start, byte_len "
    "FROM import_rejections WHERE import_id = :import_id AND (line_no, seq) > (:line_no, :seq) "
    "ORDER BY line_no, seq LIMIT :page"
)
_WARNINGS = text(
    "SELECT line_no, seq, column_name, code, message, control_number, original, original_bytes, stored_bytes "
    "FROM import_warnings WHERE import_id = :import_id AND (line_no, seq) > (:line_no, :seq) "
    "ORDER BY line_no, seq LIMIT :page"
)
_WRITTEN = text(
    # Files that were written while the import was retried are of neither generation.
    "UPDATE imports SET reports_generation = :generation "
    "WHERE id = :import_id AND reports_generation < :generation AND generation = :generation"
)


def write_report(message: dict[str, Any]) -> None:
    """Write the files of the import that an `import.completed` message names."""
    import_id, generation = int(message["importId"]), int(message["generation"])
    the_import = _load(import_id)
    if (
        the_import is None
        or the_import.layout is None
        or the_import.reports_generation >= generation
        or the_import.generation > generation
    ):
        return
    keys = report_keys(the_import.id, the_import.file_name, generation)
    write_stream(
        the_import.bucket, keys.report, _csv(REPORT_HEADER, _report_lines(import_id)), "text/csv; charset=utf-8"
    )
    write_stream(
        the_import.bucket, keys.warnings, _csv(WARNINGS_HEADER, _warnings(import_id)), "text/csv; charset=utf-8"
    )
    options = json.dumps(reload_options(Layout.from_json(the_import.layout)), ensure_ascii=False, indent=2)
    write_stream(the_import.bucket, keys.options, [options.encode()], "application/json")
    try:
        write_stream(the_import.bucket, keys.rejected_rows, _rejected_rows(the_import), "application/octet-stream")
    except FileRefusedError as gone:
        # The lines and reasons are still worth having; the rows themselves are where the source version went.
        logger.error("no rejected-rows file", extra={"import_id": import_id, "code": gone.code})
    _mark_written(import_id, generation)
    logger.info("reports written", extra={"import_id": import_id, "generation": generation})


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _load(import_id: int) -> Imports | None:
    with session() as reading:
        return reading.get(Imports, import_id)


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _mark_written(import_id: int, generation: int) -> None:
    with session() as transaction:
        transaction.execute(_WRITTEN, {"import_id": import_id, "generation": generation})


def _rows(statement: Any, import_id: int) -> Iterator[Any]:
    """All rows of a table for the import, a page at a time."""
    line_no, seq = -1, -1
    while True:
        page = _page(statement, import_id, line_no, seq)
        yield from page
        if len(page) < PAGE:
            return
        line_no, seq = page[-1].line_no, page[-1].seq


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _page(statement: Any, import_id: int, line_no: int, seq: int) -> Sequence[Any]:
    with session() as reading:
        return reading.execute(statement, {"import_id": import_id, "line_no": line_no, "seq": seq, "page": PAGE}).all()


def _rejected_rows(the_import: Imports) -> Iterator[bytes]:
    """The source's header and the rejected records, byte for byte, in the order of the file."""
    layout = Layout.from_json(the_import.layout or "{}")
    source = ObjectVersion(the_import.bucket, the_import.object_key, the_import.version_id, the_import.etag)
    yield source.read(0, layout.body_start)
    ranges = (
        (row.byte_start, row.byte_start + row.byte_len) for row in _rows(_REJECTIONS, the_import.id) if row.seq == 0
    )
    for window in windows(ranges):
        yield from _records_of(source, window)


def _records_of(source: ObjectVersion, window: Window) -> Iterator[bytes]:
    """One read for records that lie close together; one that is too large to hold is copied in parts."""
    if len(window.ranges) == 1:
        starts = range(window.start, window.end, COPY_BYTES)
        yield from (source.read(at, min(window.end, at + COPY_BYTES)) for at in starts)
        return
    raw = source.read(window.start, window.end)
    yield from (raw[start - window.start : end - window.start] for start, end in window.ranges)


def _report_lines(import_id: int) -> Iterator[Sequence[Any]]:
    for row in _rows(_REJECTIONS, import_id):
        yield row.line_no, row.column_name, row.code, row.message, row.control_number, row.row_count


def _warnings(import_id: int) -> Iterator[Sequence[Any]]:
    for row in _rows(_WARNINGS, import_id):
        original = None if row.original is None else bytes(row.original).decode("utf-8", "replace")
        where = (row.line_no, row.column_name, row.code, row.message, row.control_number)
        yield (*where, original, row.original_bytes, row.stored_bytes)


def _csv(header: Sequence[str], lines: Iterator[Sequence[Any]]) -> Iterator[bytes]:
    """UTF-8 with a byte order mark, without which spreadsheets read it in the local code page."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(header)
    yield b"\xef\xbb\xbf"
    for line in lines:
        writer.writerow([neutralised(cell) if isinstance(cell, str) else cell for cell in line])
        if buffer.tell() > 500_000:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()
