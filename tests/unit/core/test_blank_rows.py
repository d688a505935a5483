"""Rows without a value are no rows, whatever the blocks and chunks; the marks at the end of a file are none either."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FileRefusedError
from core.load_file.encoding import UTF_16_LE
from core.load_file.layout import Layout
from tests.unit.core.file_reading import every, read_file

HEADER = "Control Number,Title,Custodian\r\n"
# Each line of a file, and whether it is a row, a blank row or neither.
LINES: Mapping[str, str] = {
    "A1,x,Ann\r\n": "row",
    ",y,Ben\r\n": "row",
    '"A2","two\r\nlines",\r\n': "row",
    "A3,short\r\n": "row",
    'A4,"not closed\r\n': "row",
    ",,\r\n": "blank",
    ',"","  "\r\n': "blank",
    " , ,\t\r\n": "blank",
    ",,,,\r\n": "blank",
    '""\r\n': "blank",
    "\r\n": "empty",
}


@given(
    st.lists(st.sampled_from(sorted(LINES)), min_size=1, max_size=30),
    st.integers(1, 5),
    st.integers(1, 60),
    st.booleans(),
    st.sampled_from(["", "\x1a", "\x1a\x1a\r\n", "\0" * 300]),
)
def test_chunks_and_blocks_of_any_size_have_the_same_rows(
    lines: list[str], chunk_rows: int, block: int, stops: bool, end: str
) -> None:
    data = (HEADER + "".join(lines) + end).encode()
    whole = read_file(data, chunk_rows=1_000)
    if not any(LINES[line] == "row" for line in lines):
        assert not whole.chunks
        return
    cut = read_file(data, chunk_rows=chunk_rows, cuts=every(block, data), stops=stops)
    assert cut.records == whole.records
    assert [chunk.row_count for chunk in cut.chunks] == [
        len(read) for read in _read_chunks(cut.chunk_bytes, cut.layout)
    ]
    assert max(chunk.row_count for chunk in cut.chunks) <= chunk_rows
    assert (cut.splitter.blank_rows, cut.splitter.nul_count) == (whole.splitter.blank_rows, end.count("\0"))
    assert cut.splitter.rows_seen == len(whole.records)


def _read_chunks(chunks: list[bytes], layout: Layout) -> list[list[object]]:
    from core.load_file.chunk_reader import read_chunk

    return [list(read_chunk(raw, layout, 1, 0)) for raw in chunks]


@given(st.lists(st.sampled_from([line for line in LINES if "not closed" not in line]), min_size=1, max_size=30))
def test_each_row_and_each_blank_row_is_counted_once(lines: list[str]) -> None:
    read = read_file((HEADER + "A0,x,\r\n" + "".join(lines)).encode())
    kinds = [LINES[line] for line in lines]
    assert read.splitter.rows_seen == 1 + kinds.count("row")
    assert read.splitter.blank_rows.count == kinds.count("blank")
    starts, at = [], 3
    for line in lines:
        starts += [at] * (LINES[line] == "blank")
        at += line.count("\n")
    assert read.splitter.blank_rows.lines == starts[:10]


def test_a_chunk_that_an_earlier_version_cut_has_its_blank_rows() -> None:
    read = read_file(f"{HEADER}A1,x,\r\n,,\r\n".encode())
    earlier = Layout.from_json(read.layout.to_json().replace('"skips_blank": true', '"skips_blank": false'))
    assert len(_read_chunks([b"A1,x,\r\n,,\r\n"], earlier)[0]) == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    ("end", "rows", "nuls"),
    [
        ("\x1a", 1, 0),
        ("\x1a\r\n", 1, 0),
        ("\r\n\x1a" + "\0" * 100, 1, 100),
        ("\0" * 5000, 1, 5000),
        # With anything else on its line, or before other rows, it is data.
        ("A2,\x1a,\r\n", 2, 0),
        ("\x1aA2,,\r\n", 2, 0),
        ("\x1a\r\nA2,,\r\n", 3, 0),
        ("A2,,\x1a", 2, 0),
        ("A2,,\0\0", 2, 0),
    ],
)
def test_the_end_of_a_file_is_not_a_row(encoding: str, end: str, rows: int, nuls: int) -> None:
    data = f"{HEADER}A1,x,\r\n{end}".encode(encoding)
    for cuts in ((), every(7, data)):
        read = read_file(data, cuts=cuts)
        assert (read.splitter.rows_seen, read.splitter.nul_count) == (rows, nuls)
    assert read.layout.encoding == (UTF_16_LE if encoding == "utf-16" else "utf-8")


def test_titles_before_the_header_are_named_and_left_out() -> None:
    data = b"Acme v. Beta\r\nProduced 2020\r\n\r\nControl Number,Title\r\nA1,x\r\n"
    with pytest.raises(FileRefusedError, match="Line 4 looks like one: Control Number, Title") as refused:
        read_file(data)
    assert (refused.value.code, "'header_line' to 4" in str(refused.value)) == ("NO_ID_COLUMN", True)
    assert "option 'header'" not in str(refused.value)
    read = read_file(data, {"header_line": 4})
    assert (read.cells, [record.line_no for record in read.records]) == ([["A1", "x"]], [5])
    assert read.layout.names == ("Control Number", "Title")
    for options, said in (({"header_line": 9}, "fewer lines"), ({"header_line": 1, "header": False}, "Remove one")):
        with pytest.raises(FileRefusedError, match=said):
            read_file(data, options)


def test_a_file_without_a_header_is_advised_as_before() -> None:
    with pytest.raises(FileRefusedError, match="option 'header' to false"):
        read_file(b"one,two\r\nthree,four\r\n")
