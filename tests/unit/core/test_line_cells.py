"""A row of an error file has its line at its end, and what else is there rejects it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.load_file.original_lines import find_original_line, is_line_cell
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import parse_row
from tests.support.imports.error_file_reference import LINE_COLUMN
from tests.unit.core.file_reading import read_file
from tests.unit.core.reloaded_files import error_file, lines_of, meaning, reloaded


def test_the_surplus_cell_of_a_line_inside_a_damaged_record_is_not_taken_for_the_line() -> None:
    """In the file the second line belongs to the first; in the error file it has as many cells as a row."""
    source = read_file(b'DOCID,Title,Note\nA,"open,x\nB,c,d,5\nC,c,d,e,f\nD,good,x\n')
    (first, _) = source.records
    again = reloaded(source, error_file(source, [first]))
    rows = [parse_row(each, again.layout) for each in again.records]
    assert [[error.code for error in row.errors] for row in rows] == [
        ["MALFORMED_QUOTING"],
        ["WRONG_CELL_COUNT"],
        ["WRONG_CELL_COUNT"],
    ]
    assert lines_of(again) == [None, None, 2]


def test_a_row_of_a_damaged_record_whose_last_cell_is_blank_is_not_shifted() -> None:
    source = read_file(b'DOCID,Custodian,Note\n1,"Jones,x\n2,Smith, John,\n3,a,b,c,d\n4,ok,y\n')
    again = reloaded(source, error_file(source, source.records[:1]))
    rows = [parse_row(each, again.layout) for each in again.records]
    assert [(row.control_number, row.errors[0].code) for row in rows] == [
        (None, "MALFORMED_QUOTING"),
        (None, "WRONG_CELL_COUNT"),
        (None, "WRONG_CELL_COUNT"),
    ]


# A damaged row, a sound one, and a rejected row that closes the qualifier, or leaves another one open.
JOINED = [
    'DOCID,Title,Note\n1,"Jones\n2,"ok",y\nSmith",z\n5,a,b\n',
    'DOCID,Title,Note\n1,"Jones\n2,"ok",y\n3,"Smith\n5,a,b\n',
    'DOCID,Title,Note\r1,"Jones\r2,"ok",y\rSmith",z\r5,a,b\r',
    'DOCID,Title,Note,\n1,"Jones\n2,"ok",y,\nSmith",z,\n5,a,b,\n',
    'DOCID,Title,Note,\n1,"Jones,\n2,"ok",y,\nSmith",z,\n5,a,b,\n',
    '"DOCID","Title","Note"\n"1","Jones\n"2","ok","y"\nSmith","z"\n"5","a","b"\n',
]


@pytest.mark.parametrize("text", JOINED)
def test_the_line_of_a_damaged_row_does_not_become_text_of_the_next(text: str) -> None:
    source = read_file(text.encode())
    rejected = [each for each in source.records if parse_row(each, source.layout).errors]
    assert [each.line_no for each in rejected] == [2, 4]
    again = reloaded(source, error_file(source, rejected))
    assert lines_of(again)[0] == 2
    (first, *rest) = [parse_row(each, again.layout) for each in again.records]
    assert first.errors[0].code == "MALFORMED_QUOTING"
    assert all(row.errors for row in rest)


def test_only_a_number_before_the_last_line_rejects_a_record_of_several_lines() -> None:
    head, plain = f"DOCID,Title,{LINE_COLUMN}\n", "DOCID,Title,Note\n"
    for cell, damaged in (
        ("a,L2\nb", True),
        ("a,L2,\nb", False),
        ("a, L2\nb", False),
        ("a\nb", False),
        ("L2\nb", False),
    ):
        assert (read_file(f'{head}1,"{cell}",L7\n'.encode()).cells[0] is None) == damaged
        assert read_file(f'{plain}1,"{cell}",L7\n'.encode()).cells == [["1", cell, "L7"]]


NUMBERED = {
    "2,Smith, John,x\n": [],
    "2,Smith, John,\n": [],
    '2,"Smith, John",x,L3\n': ["2"],
    "3,a,b,new\n": ["3"],
    ' 4 ,"a\nb",c,L4\n\n': ["4"],
    '5,"a,L2\nb",c,L4\n': [],
    ",a,b,L5\n": [],
    "6,a,L6\n": [],
}


@given(
    st.lists(st.sampled_from(sorted(NUMBERED)), min_size=1),
    st.lists(st.integers(1, 200)),
    st.sampled_from(["\n", "\r"]),
)
@example(["2,Smith, John,x\n", '2,"Smith, John",x,L3\n'], [], "\n")
def test_no_row_is_a_duplicate_of_one_that_its_line_rejects(rows: list[str], cuts: list[int], end: str) -> None:
    text = f"DOCID,Custodian,Note,{LINE_COLUMN}\n{''.join(rows)}".replace("\n", end)
    reading = read_file(text.encode(), {"line_ends": "cr" if end == "\r" else "lf"}, cuts=cuts, chunk_rows=2)
    lines = [2 + "".join(rows[:at]).count("\n") for at in range(len(rows))]
    expected = [(each, line) for row, line in zip(rows, lines, strict=True) for each in NUMBERED[row]]
    assert reading.splitter.ids == expected
    parsed = [parse_row(each, reading.layout) for each in reading.records]
    assert [(row.control_number, row.source.line_no) for row in parsed if not row.errors] == expected


LINES = [("L1", 1), ("L9999999999", 9999999999), ("new", None), ("NEW", None)]
NO_LINES = (
    "1",
    "l1",
    "L",
    "L0",
    "L01",
    "L-1",
    "L1.0",
    "L10000000000",
    " L1",
    "L1 ",
    "L٣",
    "L1\n",
    "",
    " new",
    "news",
    "x",
    "\ufffd",
    "\udce9",
)


@pytest.mark.parametrize(("cell", "line"), LINES)
@pytest.mark.parametrize("spare", ["", ","])
def test_the_line_is_no_value_of_the_row(cell: str, line: int | None, spare: str) -> None:
    plain = read_file(f"DOCID,Title{spare}\n1,a{spare}\n".encode())
    numbered = read_file(f"DOCID,Title,{LINE_COLUMN}{spare}\n1,a,{cell}{spare}\n".encode())
    assert numbered.layout.fields == (*plain.layout.fields, "original_line")
    assert lines_of(numbered) == [line]
    one, other = (parse_row(each.records[0], each.layout) for each in (plain, numbered))
    assert meaning(one) == meaning(other)
    assert not one.errors


@pytest.mark.parametrize("cell", NO_LINES)
def test_another_text_in_its_place_is_rejected(cell: str) -> None:
    layout = read_file(f"DOCID,Title,{LINE_COLUMN}\n1,a,L1\n".encode()).layout
    record = SourceRecord(2, 1, 0, 9, ["1", "a", cell])
    (error,) = parse_row(record, layout).errors
    assert (error.code, error.column) == ("WRONG_CELL_COUNT", LINE_COLUMN)
    assert find_original_line(record, layout) is None
    assert not is_line_cell(cell)


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (["1", "L7"], 7),
        (["1", "a", "b", "L7"], 7),
        (["L7"], None),
        (["1", "7"], None),
        ([""], None),
        (["1", "x"], None),
    ],
)
def test_a_row_with_another_number_of_cells_is_rejected_with_the_line_at_its_end(
    cells: list[str], line: int | None
) -> None:
    layout = read_file(f"DOCID,Title,{LINE_COLUMN}\n1,a,L1\n".encode()).layout
    record = SourceRecord(2, 1, 0, 9, cells)
    assert [error.code for error in parse_row(record, layout).errors] == ["WRONG_CELL_COUNT"]
    assert find_original_line(record, layout) == line
