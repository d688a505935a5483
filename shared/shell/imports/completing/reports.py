"""Write the report files of a completed or cancelled import to S3.

Guaranteed: the files depend on the import's rows alone, in order of line, and contain no time, so that writing them
twice is harmless. The rejected rows are the text of the source version and their lines, after its own header, ready to
be corrected and imported again; the options file makes them be read as the whole file was. Cells that a spreadsheet
would evaluate as a formula are neutralized in the CSV files, and only there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import text

from core.errors import FileRefusedError
from core.imports.columns.report import describe_columns
from core.imports.report_files import build_reload_options, build_report_keys
from core.load_file.layout import Layout
from shell.aws.s3 import write_stream
from shell.db.session import session
from shell.imports.completing.deficiencies import write_deficiencies
from shell.imports.completing.error_file import format_rejected_rows
from shell.observability import logger
from shell.tables.imports import Imports
from shell.utils.csv_format import format_csv
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.volume_files.error_files import describe_volume
from shell.work.messages import ImportEndedMessage

PAGE = 5_000
REPORT_HEADER = ("line", "column", "code", "message", "id", "rows", "original_line")
WARNINGS_HEADER = (
    *("line", "column", "code", "message", "id", "original", "original_bytes", "stored_bytes"),
    *("byte_start", "byte_len"),
)
COLUMNS_HEADER = (
    *("number", "column", "field", "why", "looks_like"),
    *("date_order", "time_zone", "time_zone_version", "time_column", "date_format", "separator"),
)

_REJECTIONS = text(
    "SELECT line_no, seq, column_name, code, message, control_number, row_count, byte_start, byte_len, "
    "original_line FROM import_rejections WHERE import_id = :import_id AND (line_no, seq) > (:line_no, :seq) "
    "ORDER BY line_no, seq LIMIT :page"
)
_WARNINGS = text(
    "SELECT line_no, seq, column_name, code, message, control_number, original, original_bytes, stored_bytes, "
    "byte_start, byte_len "
    "FROM import_warnings WHERE import_id = :import_id AND (line_no, seq) > (:line_no, :seq) "
    "ORDER BY line_no, seq LIMIT :page"
)
_MARK_WRITTEN = text(
    # Files that were written while the import was retried belong to neither generation.
    "UPDATE imports SET reports_generation = :generation, deficiencies_generation = :generation "
    "WHERE id = :import_id AND reports_generation < :generation AND generation = :generation"
)


def write_report(message: ImportEndedMessage) -> None:
    """Write the files of the import that a message says is completed or cancelled.

    Does nothing if they exist, if a retry made the message obsolete, or if the file was cancelled before it was split.
    """
    import_id, generation = message.import_id, message.generation
    import_record = _load(import_id)
    if (
        import_record is None
        or import_record.layout is None
        or import_record.reports_generation >= generation
        or import_record.generation > generation
    ):
        return
    keys = build_report_keys(import_record.id, import_record.file_name, generation)
    layout = Layout.from_json(import_record.layout)
    for key, header, lines in (
        (keys.report, REPORT_HEADER, _list_rejections(import_id)),
        (keys.warnings, WARNINGS_HEADER, _list_warnings(import_id)),
        (keys.columns, COLUMNS_HEADER, _list_columns(layout)),
    ):
        write_stream(import_record.bucket, key, format_csv(header, lines), "text/csv; charset=utf-8")
    options = json.dumps(
        build_reload_options(layout, describe_volume(import_record, layout.files)), ensure_ascii=False, indent=2
    )
    write_stream(import_record.bucket, keys.options, [options.encode()], "application/json")
    try:
        write_stream(
            import_record.bucket,
            keys.rejected_rows,
            format_rejected_rows(import_record, _read_rows(_REJECTIONS, import_id)),
            "application/octet-stream",
        )
    except FileRefusedError as gone:
        # The source version was deleted. The lines and errors are still useful without the rows.
        logger.error("no rejected-rows file", extra={"import_id": import_id, "code": gone.code})
    write_deficiencies(import_record, generation)
    _mark_written(import_id, generation)
    logger.info("reports written", extra={"import_id": import_id, "generation": generation})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _load(import_id: int) -> Imports | None:
    with session() as reading:
        return reading.get(Imports, import_id)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _mark_written(import_id: int, generation: int) -> None:
    with session() as transaction:
        transaction.execute(_MARK_WRITTEN, {"import_id": import_id, "generation": generation})


def _read_rows(statement: Any, import_id: int) -> Iterator[Any]:
    """Yield all rows of the statement's table for the import, read a page at a time."""
    line_no, seq = -1, -1
    while True:
        page = _read_page(statement, import_id, line_no, seq)
        yield from page
        if len(page) < PAGE:
            return
        line_no, seq = page[-1].line_no, page[-1].seq


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _read_page(statement: Any, import_id: int, line_no: int, seq: int) -> Sequence[Any]:
    with session() as reading:
        return reading.execute(statement, {"import_id": import_id, "line_no": line_no, "seq": seq, "page": PAGE}).all()


def _list_rejections(import_id: int) -> Iterator[Sequence[Any]]:
    for row in _read_rows(_REJECTIONS, import_id):
        where = (row.line_no, row.column_name, row.code, row.message, row.control_number)
        yield (*where, row.row_count, row.original_line)


def _list_warnings(import_id: int) -> Iterator[Sequence[Any]]:
    for row in _read_rows(_WARNINGS, import_id):
        original = None if row.original is None else bytes(row.original).decode("utf-8", "replace")
        where = (row.line_no, row.column_name, row.code, row.message, row.control_number)
        # Of a text that is too long for the report: the bytes of its record in the load file.
        is_longer = row.original is None and row.original_bytes is not None
        record = (row.byte_start, row.byte_len) if is_longer else (None, None)
        yield (*where, original, row.original_bytes, row.stored_bytes, *record)


def _list_columns(layout: Layout) -> Iterator[Sequence[Any]]:
    for number, column in enumerate(describe_columns(layout), start=1):
        mapping = (number, column.name, column.field or "property", column.why.value, column.looks_like)
        dates = (column.date_order, column.time_zone, column.time_zone_version, column.time_column, column.date_format)
        yield (*mapping, *dates, column.separator)
