"""What must be true of the records of a damaged file, one by one: a meaning or a reason, and an id that was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.codes import FileFailure, Rejection
from core.errors import FileRefusedError
from core.imports.report_files import build_reload_options
from core.load_file.chunk_reader import SourceRecord
from core.load_file.dialect import read_opening
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.layout import Layout
from core.load_file.options import parse_options
from core.load_file.rows import Row, parse_row
from tests.support.error_files import error_file_of

# Control characters are to be a small share of a file; of the rejected rows they may be a larger one.
_BY_THEIR_SHARE = frozenset({FileFailure.BINARY_FILE, FileFailure.UNSUPPORTED_ENCODING})

PATHS = ("file_name", "native_path", "text_path")


class ViolationError(Exception):
    """What was found instead of what is promised."""


def demand(kept: bool, otherwise: str) -> None:
    """Raise ViolationError unless the promise is kept; unlike `assert`, also where Python is told to optimise."""
    if not kept:
        raise ViolationError(otherwise)


def check_rows(records: Sequence[SourceRecord], layout: Layout) -> list[SourceRecord]:
    """Every record has a line above that of the one before, and an id or a reason; returns those with a reason."""
    lines = [record.line_no for record in records]
    demand(lines == sorted(set(lines)), "lines do not ascend")
    rejected = []
    for record in records:
        row = parse_row(record, layout)
        demand(bool(row.errors) != _is_sound(row, layout), f"line {record.line_no} has neither meaning nor reason")
        for problem in row.errors:
            demand(problem.code in set(Rejection) and bool(problem.message.strip()), "a reason says nothing")
        names = [each.name for each in (*row.custodians, *row.tags)]
        paths = [row.values.get(field, "") for field in PATHS if record.line_count == 1]
        demand(layout.newline is None or not any(layout.newline in name for name in names), "a name has the mark")
        demand(layout.newline == "\n" or not any("\n" in path for path in paths), "a path has a line break")
        if row.errors:
            rejected.append(record)
    return rejected


def _is_sound(row: Row, layout: Layout) -> bool:
    cells = row.source.cells
    return (
        cells is not None and layout.grammar.has_expected_cells(cells) and bool(row.control_number) and not row.errors
    )


def check_ids(records: Sequence[SourceRecord], layout: Layout, seen: Sequence[tuple[str, int]]) -> None:
    """The ids that were looked at for duplicates are those of the records, alike where those are alike."""
    fitting = [
        (each.cells, each.line_no) for each in records if each.cells and layout.grammar.has_expected_cells(each.cells)
    ]
    field = "control_number" if "control_number" in layout.fields else "bates_begin"
    column = layout.fields.index(field)
    ids = [(cells[column].strip(ASCII_WHITESPACE), line) for cells, line in fitting]
    named = [(control_number, line) for control_number, line in ids if control_number]
    demand([line for _, line in named] == [line for _, line in seen], "the splitter saw ids on other lines")
    pairs = {(ours, theirs) for (ours, _), (theirs, _) in zip(named, seen, strict=True)}
    ones, others = {ours for ours, _ in pairs}, {theirs for _, theirs in pairs}
    demand(len(pairs) == len(ones) == len(others), "ids are alike for the splitter alone, or for chunks alone")


def check_reload(data: bytes, layout: Layout, rejected: Sequence[SourceRecord]) -> None:
    """With the options that come back with them, the rejected rows are read as the file was.

    Without a header, only the first row shows whether records begin with a qualifier.
    """
    if not rejected:
        return
    places = [(each.byte_start, each.byte_len) for each in rejected]
    returned = error_file_of(data, layout.body_start, layout.encoding, places)
    try:
        opening = read_opening(returned, parse_options(build_reload_options(layout)), whole=True)
    except FileRefusedError as refused:
        if refused.code in _BY_THEIR_SHARE:
            return
        raise ViolationError(f"the rejected rows cannot be loaded again: {refused.code}: {refused}") from refused
    grammar = (
        opening.grammar if layout.has_header else replace(opening.grammar, quoted_start=layout.grammar.quoted_start)
    )
    read = (grammar, opening.names, opening.fields, opening.dialect.newline, opening.dialect.encoding)
    meant = (layout.grammar, layout.names, layout.fields, layout.newline, "utf-8")
    demand(read == meant, f"the rejected rows are read otherwise than the file: {read} and not {meant}")
