"""A rejected row keeps the line of the file that was imported first, and comes back with the values of that file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given

from core.errors import FileRefusedError
from core.imports.error_file import (
    HELD_CHARACTERS,
    MAX_HELD_BLANKS,
    adds_lines,
    format_header,
    format_record,
    format_records,
)
from core.imports.report_files import build_reload_options
from core.load_file.field_mapping import FIELDS, explain_columns
from core.load_file.file_signatures import MAX_HEADER_CHARACTERS, MAX_NAME_CHARACTERS
from core.load_file.options import MAX_COLUMNS
from core.load_file.original_lines import find_original_line
from core.load_file.rows import parse_row
from samples.dialects import COMMA, CONCORDANCE, Quoting
from samples.generator import Generated, generate
from samples.spec import Fault, FaultKind, Spec
from tests.support.imports.error_file_reference import LINE_COLUMN, Form, error_file_of
from tests.unit.core.file_reading import clear_files, read_file
from tests.unit.core.reloaded_files import error_file, lines_of, meaning, reloaded

FAULTS = (*(FaultKind.MISSING_ID, FaultKind.MORE_CELLS, FaultKind.FEWER_CELLS, FaultKind.UNCLOSED_QUOTE),)


def faulty(**changes: Any) -> Generated:
    return generate(Spec(rows=12, faults=tuple(map(Fault, FAULTS)), **changes))


@given(clear_files().filter(lambda made: made.truth.has_header))
@example(faulty(dialect=COMMA, trailing_delimiter=True, newline="\r"))
@example(faulty(dialect=COMMA, quoting=Quoting.MINIMAL, encoding="cp1252", final_newline=False))
@example(faulty(dialect=CONCORDANCE, encoding="utf-16-be", trailing_delimiter=True, embedded_newlines=True))
@example(faulty(dialect=CONCORDANCE, encoding="cp1252", newline="\r", blank_lines=True))
def test_every_record_of_an_error_file_has_its_line_and_the_meaning_of_the_source(made: Generated) -> None:
    source = read_file(made.data, made.options)
    data = error_file(source)
    places = [(each.line_no, each.byte_start, each.byte_len) for each in source.records]
    assert data == error_file_of(made.data, made.truth.header_len, source.layout.encoding, Form.of(made), places)
    again = reloaded(source, data)
    assert (again.layout.names[:-1], again.layout.names[-1]) == (source.layout.names, LINE_COLUMN)
    assert lines_of(again) == [each.line_no for each in source.records]
    for was, now in zip(source.records, again.records, strict=True):
        one, other = (parse_row(record, each.layout) for record, each in ((was, source), (now, again)))
        codes = [error.code for error in one.errors]
        if codes and codes[0] in ("WRONG_CELL_COUNT", "MALFORMED_QUOTING"):
            assert codes == [error.code for error in other.errors]
        elif "UNDECODABLE_BYTES" not in codes:
            assert meaning(one) == meaning(other)
    assert error_file(again) == data, "the column is added once"
    assert reloaded(again, data).layout == again.layout


SPARE = [
    (",x,", ",x,L2,"),
    (",x", ",x,L2"),
    # Rows that lack a cell, with and without the last delimiter; rows with one too many.
    ("1,", "1,L2,"),
    ("1", "1,L2"),
    ("1,a,b", "1,a,b,L2"),
    ("1,a,b,", "1,a,b,L2,"),
    ("1,,,", "1,,,L2,"),
    ('"1","a",""', '"1","a",L2,""'),
    ('1,a,""  ', '1,a,L2,""  '),
    (f'1,a,""{" " * 5_000}', f'1,a,L2,""{" " * 5_000}'),
    (f'1,"a,""{" " * 5_000}', f'1,"a,L2,""{" " * 5_000}'),
    ("1, ", "1, ,L2"),
    ("1,a, ", "1,a, ,L2"),
    ('1,"a,', '1,"a,L2,'),
    ('"1","a,""b"', '"1","a,""b",L2'),
]


@pytest.mark.parametrize("header", ["DOCID,Title,", "DOCID,Title, ", 'DOCID,Title,""', 'DOCID,Title,"\t" '])
@pytest.mark.parametrize(("row", "numbered"), SPARE)
def test_with_a_spare_delimiter_a_row_fits_where_it_fitted_before(header: str, row: str, numbered: str) -> None:
    source = read_file(f"{header}\n{row}\n".encode())
    assert source.layout.grammar.spare_cell
    data = error_file(source)
    at = header.rindex(",")
    assert data.decode("utf-8-sig") == f"{header[:at]},{LINE_COLUMN}{header[at:]}\n{numbered}\n"
    again = reloaded(source, data)
    assert again.layout.grammar == replace(source.layout.grammar, cells=3)
    (one,), (other,) = source.records, again.records
    fits = [
        each.layout.grammar.has_expected_cells(record.cells or []) for each, record in ((source, one), (again, other))
    ]
    assert fits[0] == fits[1]
    assert find_original_line(other, again.layout) == 2
    if fits[0]:
        assert meaning(parse_row(one, source.layout)) == meaning(parse_row(other, again.layout))


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\n\n\r\n"])
def test_the_cell_is_on_the_last_line_of_a_record_that_blank_lines_follow(ends: str) -> None:
    source = read_file(f'DOCID,Title\nA,"one\ntwo{ends}B,x\n'.encode())
    assert (
        error_file(source).decode("utf-8-sig")
        == f'DOCID,Title,{LINE_COLUMN}\nA,"one\ntwo,L2{ends}B,x,L{source.records[1].line_no}\n'
    )
    assert lines_of(reloaded(source, error_file(source))) == [each.line_no for each in source.records]


def test_a_cr_at_the_end_is_data_unless_it_ends_lines() -> None:
    for text, expected in (("DOCID,Title\n1,a\r", "1,a\r,L2"), ("DOCID,Title\r1,a\r", "1,a,L2\r")):
        assert error_file(read_file(text.encode())).decode().endswith(expected)


def test_the_options_of_an_error_file_read_it_without_the_column_too() -> None:
    source = read_file(b"DOCID,Title,Tags\n,a,b\n", {"columns": {"Tags": "property"}})
    again = reloaded(source, error_file(source))
    assert build_reload_options(again.layout) == build_reload_options(source.layout)
    assert reloaded(again, source.data).layout == source.layout
    (column,) = explain_columns(again.layout.names, {"Tags": "property"})[-1:]
    assert (column.field, column.why, column.meaning) == ("original_line", "synonym", "original_line")
    assert "original_line" not in FIELDS


def test_a_file_keeps_its_own_column_and_others_of_the_name() -> None:
    given_column = read_file(f"DOCID,{LINE_COLUMN}\n,5\n".encode(), {"columns": {LINE_COLUMN: "property"}})
    in_between = read_file(f"DOCID,{LINE_COLUMN},Title\n,5,a\n".encode(), {"columns": {"2": "property"}})
    for source in (given_column, in_between):
        assert "original_line" not in source.layout.fields
        again = reloaded(source, error_file(source))
        assert again.layout.fields == (*source.layout.fields, "original_line")
        assert again.layout.names == (*source.layout.names, f"{LINE_COLUMN} (2)")
        assert lines_of(again) == [2]
        # The column may be removed, whichever error file it is of.
        options = build_reload_options(again.layout)
        assert options == build_reload_options(source.layout)
        assert read_file(source.data, options).layout == source.layout


@pytest.mark.parametrize("name", [LINE_COLUMN, f" {LINE_COLUMN.upper()} ", f"{LINE_COLUMN} (2)"])
@pytest.mark.parametrize("after", [",,", ",Title", ",,,"])
def test_a_column_after_that_of_the_lines_does_not_make_them_values(name: str, after: str) -> None:
    """As a spreadsheet writes it, which gives every row the cells of the longest one."""
    data = f"DOCID,{name}{after}\n1,L2{after}\n".encode()
    with pytest.raises(FileRefusedError, match="Remove those after it") as refused:
        read_file(data)
    assert refused.value.code == "BAD_OPTIONS"
    assert f"map {name.strip()} to property with option 'columns'" in str(refused.value)
    reading = read_file(data, {"columns": {name.strip(): "property"}})
    assert parse_row(reading.records[0], reading.layout).properties[name.strip()] == "L2"


# The sum of the names is the longest that a header can have.
LONG_NAMES = ["DOCID", *(f"{number:0{MAX_NAME_CHARACTERS}}" for number in range(999)), "x" * (MAX_NAME_CHARACTERS - 5)]
UNNUMBERED: list[tuple[str, dict[str, Any]]] = [
    ("1,a\n,b\n", {"header": False, "columns": {"1": "control_number"}}),
    ("DOCIDtCC\ntb\n", {"delimiter": "t"}),
    ("DOCID,Title\n,b\n", {"delimiter": ",", "qualifier": "E"}),
    (",".join(["DOCID", *("x" * (MAX_COLUMNS - 1))]) + "\n,b\n", {}),
    (",".join(LONG_NAMES) + "\n,b\n", {}),
]


@pytest.mark.parametrize(
    ("text", "options"), UNNUMBERED, ids=["no header", "delimiter", "qualifier", "columns", "characters"]
)
def test_an_error_file_that_cannot_have_the_column_is_the_text_of_the_source(
    text: str, options: dict[str, Any]
) -> None:
    source = read_file(text.encode(), options)
    assert not adds_lines(source.layout)
    assert error_file(source).decode("utf-8-sig") == text
    assert lines_of(reloaded(source, error_file(source))) == [None] * len(source.records)


def test_a_header_that_has_room_for_the_column_gets_it() -> None:
    names = [*LONG_NAMES[:-1], "x" * (MAX_NAME_CHARACTERS - 5 - len(LINE_COLUMN))]
    source = read_file(("\t".join(names) + "\n\tb\n").encode())
    # Delimiters and the line end do not count in the header, but do in the bytes that tell whether there is room.
    room = replace(source.layout, body_start=MAX_HEADER_CHARACTERS - len(LINE_COLUMN))
    assert [adds_lines(each) for each in (source.layout, room)] == [False, True]
    again = reloaded(source, format_header(source.data[: source.layout.body_start], room) + b"\tb\n")
    assert again.layout.names == (*names, LINE_COLUMN)


def test_the_records_of_a_run_have_their_lines_and_the_blank_lines_between_them() -> None:
    text = 'DOCID,Title\n\n1,a\n\n\n2,"b\nc"\n3,"open\n4,d\n\n'
    source = read_file(text.encode())
    layout = source.layout
    body = source.data[layout.body_start :]
    expected = '\n1,a,L3\n\n\n2,"b\nc",L6\n3,"open,L8\n4,d,L9\n\n'
    assert b"".join(format_records(body, layout, layout.body_line)).decode() == expected
    unnumbered = replace(layout, has_header=False)
    assert b"".join(format_records(body, unnumbered, 1)) == body


@pytest.mark.parametrize("piece", [b"x" * 500_000, b" " * 500_000, b"\n" * 500_000, b'x,"\n' * 100_000])
@pytest.mark.parametrize("spare", ["", ","])
def test_a_record_of_any_size_is_written_while_it_is_read(piece: bytes, spare: str) -> None:
    layout = read_file(f"DOCID,Title{spare}\n1,a{spare}\n".encode()).layout
    read = written = 0

    def pieces() -> Iterator[bytes]:
        nonlocal read
        for _ in range(6):
            read += len(piece)
            yield piece
        yield b"end\n"

    for text in format_record(pieces(), layout, 7):
        written += len(text)
        assert read - written <= HELD_CHARACTERS + MAX_HELD_BLANKS + len(piece)
        last = text
    assert last.endswith(b"end,L7\n")
    assert written == read + len(b"end,L7\n")
