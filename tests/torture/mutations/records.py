"""What must be true of the records of a damaged file, one by one: a meaning or a reason, and an id that was seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.codes import FileFailure, Rejection
from core.errors import FileRefusedError
from core.imports.report_files import build_reload_options
from core.load_file.chunk_reader import read_chunk
from core.load_file.dialect import Opening, read_opening
from core.load_file.encoding import has_surrogates
from core.load_file.file_signatures import MAX_HEADER_CHARACTERS
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.layout import Layout
from core.load_file.options import MAX_COLUMNS, parse_options
from core.load_file.original_lines import find_original_line
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import Row, parse_row
from tests.support.imports.error_file_reference import LINE_COLUMN, Form, error_file_of, line_cell

# Control characters are to be a small share of a file; of the rejected rows they may be a larger one.
_BY_THEIR_SHARE = frozenset({FileFailure.BINARY_FILE, FileFailure.UNSUPPORTED_ENCODING})

PATHS = ("file_name", "native_path", "text_path")


class ViolationError(Exception):
    """What was found instead of what is promised."""


def demand(kept: bool, otherwise: str) -> None:
    """Raise ViolationError unless the promise is kept; unlike `assert`, also where Python runs with -O."""
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
    numbered = layout.fields[-1] == "original_line"
    fitting = [
        (each.cells, each.line_no)
        for each in records
        if each.cells
        and layout.grammar.has_expected_cells(each.cells)
        # The cell of a line tells a row from what another row moved there.
        and not (numbered and "WRONG_CELL_COUNT" in [error.code for error in parse_row(each, layout).errors])
    ]
    field = "control_number" if "control_number" in layout.fields else "bates_begin"
    column = layout.fields.index(field)
    ids = [(cells[column].strip(ASCII_WHITESPACE), line) for cells, line in fitting]
    named = [(control_number, line) for control_number, line in ids if control_number]
    demand([line for _, line in named] == [line for _, line in seen], "the splitter saw ids on other lines")
    pairs = {(ours, theirs) for (ours, _), (theirs, _) in zip(named, seen, strict=True)}
    ones, others = {ours for ours, _ in pairs}, {theirs for _, theirs in pairs}
    demand(len(pairs) == len(ones) == len(others), "ids are alike for the splitter alone, or for chunks alone")


def form_of(layout: Layout) -> Form:
    """How the file is written, and whether its error file has lines."""
    grammar = layout.grammar
    few = len(layout.names) < MAX_COLUMNS and layout.body_start + len(LINE_COLUMN) <= MAX_HEADER_CHARACTERS
    numbered = layout.has_header and LINE_COLUMN not in layout.names[-1] and few
    return Form(
        *(grammar.delimiter, grammar.qualifier or "", grammar.quoted_start, grammar.spare_cell, grammar.cr_ends),
        numbered=numbered and not {grammar.delimiter, grammar.qualifier} & set(LINE_COLUMN),
    )


def check_reload(data: bytes, layout: Layout, rejected: Sequence[SourceRecord]) -> None:
    """With the options that come back with them, the rejected rows are read as the file was, each with its line.

    Without a header, only the first row shows whether records begin with a qualifier.
    """
    if not rejected:
        return
    form, places = form_of(layout), [(each.line_no, each.byte_start, each.byte_len) for each in rejected]
    returned = error_file_of(data, layout.body_start, layout.encoding, form, places)
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
    added = ((LINE_COLUMN,), ("original_line",)) if form.numbered else ((), ())
    expected = replace(layout.grammar, cells=layout.grammar.cells + form.numbered)
    meant = (expected, layout.names + added[0], layout.fields + added[1], layout.newline, "utf-8")
    demand(read == meant, f"the rejected rows are read otherwise than the file: {read} and not {meant}")
    if form.numbered and all(each.cells is not None for each in rejected):
        # A record with damaged quoting may swallow the one behind it here that is not behind it in the file.
        _check_lines(returned, opening, layout, rejected)


def _check_lines(returned: bytes, opening: Opening, layout: Layout, rejected: Sequence[SourceRecord]) -> None:
    """Every rejected row that was read is read alike again, with one more cell: its line in the file."""
    again = replace(
        layout,
        encoding="utf-8",
        grammar=opening.grammar,
        names=opening.names,
        fields=opening.fields,
        body_start=opening.body_start,
        body_line=opening.body_line,
    )
    body = returned[opening.body_start :]
    records = list(read_chunk(body, again, opening.body_line, opening.body_start))
    lines = [find_original_line(each, again) for each in records]
    demand(lines == [each.line_no for each in rejected], f"the rejected rows have the lines {lines}")
    for was, now in zip(rejected, records, strict=True):
        coerced, fits = (
            each.grammar.has_expected_cells(record.cells or []) for each, record in ((layout, was), (again, now))
        )
        demand(coerced == fits, f"line {was.line_no} has the number of cells in one of the two files alone")
        theirs, ours = was.cells or [], now.cells or []
        at = ours.index(line_cell(was.line_no), len(theirs) - layout.grammar.spare_cell)
        same = [*ours[:at], *ours[at + 1 :]] == theirs
        demand(same or has_surrogates("".join(theirs)), f"line {was.line_no} has other cells in the error file")
