"""Rejected rows as an error file has them, and what is read when it is imported again."""

from __future__ import annotations

from typing import Any

from core.imports.error_file import format_header, format_record
from core.imports.report_files import build_reload_options
from core.load_file.original_lines import find_original_line
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import Row
from tests.unit.core.file_reading import Reading, read_file


def error_file(reading: Reading, records: list[SourceRecord] | None = None) -> bytes:
    """The error file of a file in which these records are rejected, or all."""
    layout, data = reading.layout, reading.data
    found = reading.records if records is None else records
    rows = (
        b"".join(format_record([data[each.byte_start : each.byte_start + each.byte_len]], layout, each.line_no))
        for each in found
    )
    return format_header(data[: layout.body_start], layout) + b"".join(rows)


def lines_of(reading: Reading) -> list[int | None]:
    return [find_original_line(each, reading.layout) for each in reading.records]


def reloaded(reading: Reading, data: bytes) -> Reading:
    return read_file(data, build_reload_options(reading.layout))


def meaning(row: Row) -> tuple[Any, ...]:
    changes = [(each.code, each.column, each.original) for each in row.changes]
    names = (row.custodians, row.tags)
    return (row.control_number, row.values, row.document_date, row.properties, *names, changes, row.errors)
