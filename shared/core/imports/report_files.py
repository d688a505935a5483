"""The report files of an import: their keys, the ranges of rejected bytes, and the options to reload these rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from core.file_options import VolumeUse
from core.imports.error_file import adds_lines
from core.load_file.encoding import UTF_8
from core.load_file.field_mapping import FIELDS, is_decided_by_content, is_line_column, map_columns
from core.load_file.layout import Layout
from core.load_file.options import CR, LF
from core.load_file.original_lines import has_line_column

MAX_WINDOW_BYTES = 4_000_000
MAX_GAP_BYTES = 65_536
MAX_WINDOW_RANGES = 10_000


class ReportKeys(NamedTuple):
    """The S3 keys of an import's report files."""

    rejected_rows: str
    report: str
    warnings: str
    options: str
    columns: str


def build_report_keys(import_id: int, file_name: str, generation: int) -> ReportKeys:
    """Return the keys of an import's report files; the rejected rows keep the suffix of their load file."""
    suffix = PurePosixPath(file_name).suffix[:16]
    names = (f"rejected_rows{suffix}", "report.csv", "warnings.csv", "options.json", "columns.csv")
    return ReportKeys(*(f"{build_report_prefix(import_id, generation)}{name}" for name in names))


def build_report_prefix(import_id: int, generation: int) -> str:
    """Return the common prefix of the keys of an import's report files."""
    return f"reports/{import_id}/{generation}/"


class DeficiencyKeys(NamedTuple):
    """The S3 keys of what a producing party has to send or correct, as a table and as a text."""

    table: str
    text: str


def build_deficiency_keys(import_id: int, generation: int) -> DeficiencyKeys:
    """Return the keys of the files with what a producing party has to send or correct."""
    prefix = build_report_prefix(import_id, generation)
    return DeficiencyKeys(f"{prefix}deficiencies.csv", f"{prefix}deficiencies.txt")


def build_findings_key(import_id: int, generation: int) -> str:
    """Return the key of the file with the findings of a check."""
    return f"{build_report_prefix(import_id, generation)}findings.csv"


def build_unreferenced_key(import_id: int, generation: int) -> str:
    """Return the key of the file with the files of a volume that nothing names."""
    return f"{build_report_prefix(import_id, generation)}unreferenced.csv"


def build_kept_key(import_id: int, undo_no: int, generation: int) -> str:
    """Return the key of the file with what an undo of an import kept, up to that generation of the undo."""
    return f"reports/{import_id}/undo-{undo_no}/{generation}/kept.csv"


@dataclass
class ReadWindow:
    """Byte ranges [start, end) of a file that are read together, from `start` to `end`."""

    start: int
    end: int
    ranges: list[tuple[int, int]]


def group_ranges(ranges: Iterable[tuple[int, int]]) -> Iterator[ReadWindow]:
    """Group ascending byte ranges into windows: gaps of at most 64 KB, 10,000 ranges, 4 MB but for a single one."""
    window: ReadWindow | None = None
    for start, end in ranges:
        is_near = window and start - window.end <= MAX_GAP_BYTES and end - window.start <= MAX_WINDOW_BYTES
        if window and is_near and len(window.ranges) < MAX_WINDOW_RANGES:
            window.end = end
            window.ranges.append((start, end))
            continue
        if window:
            yield window
        window = ReadWindow(start, end, [(start, end)])
    if window:
        yield window


def build_reload_options(layout: Layout, volume: VolumeUse | None = None) -> dict[str, Any]:
    """Return the options that make the rows of a file's error file read as the whole file was.

    A few rows can be detected differently from the whole file, for example their date order. An image load file has
    no columns to map. The encoding is left out where the column of lines shows an error file: its byte order mark says
    UTF-8, and a spreadsheet that saves it may choose another encoding, which is detected and reported.
    `volume` is the one that the file is a load file of.
    """
    files = layout.files if volume is None else replace(layout.files, volume=volume)
    if layout.image_format:
        return {"encoding": UTF_8, **layout.load_mode.as_options(), **files.as_options()}
    return {
        **({} if adds_lines(layout) or has_line_column(layout) else {"encoding": UTF_8}),
        "delimiter": layout.grammar.delimiter,
        "qualifier": layout.grammar.qualifier or "none",
        "newline": layout.newline or "none",
        "line_ends": CR if layout.grammar.cr_ends else LF,
        "header": layout.has_header,
        **({"header_line": layout.header_line} if layout.header_line else {}),
        **({} if layout.has_header else {"cells": layout.grammar.cells}),
        "date_order": _choose_date_order(layout),
        **({"time_zone": layout.time_zone} if layout.time_zone else {}),
        **({"date_format": dict(layout.date_formats)} if layout.date_formats else {}),
        **layout.lists.as_options(),
        **layout.load_mode.as_options(),
        **files.as_options(),
        "columns": map_explicitly(layout),
    }


def _choose_date_order(layout: Layout) -> str | dict[str, str]:
    if not layout.date_orders:
        return layout.date_order
    return {column.field: column.order for column in layout.date_columns}


def map_explicitly(layout: Layout) -> dict[str, str]:
    """Return the option `columns` that gives every column its field, by name or, without a header, by number."""
    # By name if there are names: a column named "3" need not be the third one.
    keys = layout.names if layout.has_header else [str(number) for number in range(1, len(layout.names) + 1)]
    mapping = {key: field for key, field in zip(keys, layout.fields, strict=True) if field in FIELDS and field}
    # A property with the name of the column of lines, which may be the last one without the column that comes after it.
    named = zip(keys, layout.names, layout.fields, strict=True)
    mapping |= {key: "property" for key, name, was in named if was is None and is_line_column(name)}
    # The rows of an error file can decide otherwise what their cells mean.
    by_content = zip(keys, layout.names, layout.fields, strict=True)
    mapping |= {key: "property" for key, name, was in by_content if was is None and is_decided_by_content(name)}
    # A column that was a property although its name means a field would now be mapped to that field; once it is mapped
    # to a property explicitly, the same can happen to the next column of that meaning.
    while True:
        mapped = map_columns(layout.names, mapping)
        more = {key: "property" for key, was, now in zip(keys, layout.fields, mapped, strict=True) if now and not was}
        if not more:
            return mapping
        mapping |= more
