"""Byte ranges are read in few windows, and cells of a report are not evaluated."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.csv_cells import neutralize_formula
from core.imports.error_file import format_header, format_record
from core.imports.report_files import MAX_GAP_BYTES, MAX_WINDOW_BYTES, build_reload_options, group_ranges
from core.load_file.encoding import BOMS
from core.load_file.layout import Layout
from tests.support.imports.error_file_reference import LINE_COLUMN, Form
from tests.unit.core.file_reading import read_file

STEPS = st.tuples(
    st.sampled_from([0, 1, MAX_GAP_BYTES, MAX_GAP_BYTES + 1, MAX_WINDOW_BYTES]),
    st.sampled_from([1, 10, 1_000_000, MAX_WINDOW_BYTES, 5 * MAX_WINDOW_BYTES]),
)


def ranges_of(steps: list[tuple[int, int]]) -> list[tuple[int, int]]:
    ranges, at = [], 100
    for gap, length in steps:
        ranges.append((at + gap, at + gap + length))
        at += gap + length
    return ranges


@given(st.lists(STEPS, max_size=12).map(ranges_of))
@example([])
@example(ranges_of([(0, 1), (MAX_GAP_BYTES, 1), (MAX_GAP_BYTES + 1, 1)]))
@example(ranges_of([(0, MAX_WINDOW_BYTES - 1), (0, 1), (0, MAX_WINDOW_BYTES), (0, 1)]))
def test_windows_hold_all_ranges_and_are_as_few_as_they_may_be(ranges: list[tuple[int, int]]) -> None:
    found = list(group_ranges(ranges))
    assert [one for window in found for one in window.ranges] == ranges
    for window in found:
        assert (window.start, window.end) == (window.ranges[0][0], window.ranges[-1][1])
        assert len(window.ranges) == 1 or window.end - window.start <= MAX_WINDOW_BYTES
        assert all(after[0] - before[1] <= MAX_GAP_BYTES for before, after in pairwise(window.ranges))
    for one, other in pairwise(found):
        first = other.ranges[0]
        assert first[0] - one.end > MAX_GAP_BYTES or first[1] - one.start > MAX_WINDOW_BYTES


def test_a_window_holds_no_more_than_ten_thousand_records() -> None:
    ranges = ranges_of([(0, 9)] * 20_001)
    assert [len(window.ranges) for window in group_ranges(ranges)] == [10_000, 10_000, 1]


def error_file(data: bytes, layout: Layout, records: list[slice]) -> bytes:
    rows = (b"".join(format_record([data[record]], layout, line)) for line, record in enumerate(records, start=2))
    return format_header(data[: layout.body_start], layout) + b"".join(rows)


FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\0=1", "＝1", "＋1", "－1", "＠A1")


def test_a_cell_that_a_spreadsheet_would_evaluate_is_text_and_others_stay_as_they_are() -> None:
    for cell in FORMULAS:
        assert neutralize_formula(cell) == f"'{cell}"
    for cell in ("", "EXH0001", "a=1", " =1", "'=1", "1-2"):
        assert neutralize_formula(cell) == cell


OURS = {"Title": "property", "Tags": "property", "Begin Attach": "property"}
SENT = dict.fromkeys(("Date Sent", "Date Received", "Date Created"), "property")
BY_PLACE = {"2": "control_number", "1": "custodians"}
RELOADED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("þDOCIDþ\x14þDocDateþ\n" + "þ1þ\x14þ21/05/2001þ\n", {}, {"date_order": "DMY", "newline": "®"}),
    ("DOCID|Custodian|DocDate\n1|Smith, A|5/6/2001\n", {}, {"delimiter": "|", "date_order": "MDY"}),
    ("DOCID\tTitle\n1\té\n", {}, {"delimiter": "\t", "qualifier": '"', "header": True}),
    # A column that was given as a property is none of our fields when its rows come back.
    (
        "DOCID,Title,Tags,Begin Attach,Other\n1,a,b,c,d\n",
        {"columns": OURS},
        {"columns": {"DOCID": "control_number", **OURS}},
    ),
    # Of several columns of one meaning that were properties, none takes its place.
    ("DOCID,Date Sent,Date Received,Date Created\n1,2,3,4\n", {"columns": SENT}, {}),
    ("DOCID,Title,Doc Title,Other\n1,2,3,4\n", {"columns": {"Title": "property", "Doc Title": "property"}}, {}),
    (
        "Control Number,Doc ID,Beg Bates,Text\n1,2,3,4\n",
        {"columns": {"Control Number": "property", "Doc ID": "property"}},
        {},
    ),
    # A column that is called 3 but stands first keeps its field.
    (
        "3,1,2,Title\nA-1,Smith,2,one\n",
        {"columns": {"3": "control_number", "1": "custodians"}},
        {"columns": {"3": "control_number", "1": "custodians", "Title": "title"}},
    ),
    ("Smith,A-1,one\n", {"header": False, "columns": BY_PLACE}, {"header": False, "columns": BY_PLACE}),
    ("sep=;\nSmith;A-1;one\n", {"header": False, "columns": BY_PLACE}, {"header": False, "columns": BY_PLACE}),
    ("DOCID,Title\r1,a\r2,b\r", {}, {"line_ends": "cr"}),
    (
        "Control Number|Title\nA-1|it's \"one\n",
        {"qualifier": "none", "date_order": "DMY"},
        {"qualifier": "none", "delimiter": "|", "date_order": "DMY", "newline": "none"},
    ),
]


@pytest.mark.parametrize(("text", "given_options", "expected"), RELOADED)
def test_a_file_is_read_alike_with_the_options_that_its_report_gives(
    text: str, given_options: dict[str, Any], expected: dict[str, Any]
) -> None:
    layout = read_file(text.encode(), given_options).layout
    options = json.loads(json.dumps(build_reload_options(layout)))
    assert read_file(text.encode(), options).layout == layout
    assert options.items() >= expected.items()


# Files, by what their rejected rows do not show; the first of these rows is the one with a cell too many.
UNTOLD = {
    "where lines end": ("DOCID,Title\r" + "1,a\r" * 70_000 + "2,b,c\n3,d,e\r4,f,g\r\n", {}),
    "where lines do not end": ("DOCID,Ti\rtle\n" + "1,a\n" * 99 + "2,b,c\n", {}),
    "how many cells a row has": ("1,a\n2,b,c\n3,d\n", {"header": False, "columns": {"1": "control_number"}}),
    "how many cells a row has, after quoting": (
        'sep=,\n1,a\n"2",b,c\n"3,d',
        {"header": False, "columns": {"1": "control_number"}},
    ),
}


@pytest.mark.parametrize("case", UNTOLD)
def test_what_rejected_rows_do_not_show_is_in_their_options(case: str) -> None:
    text, options = UNTOLD[case]
    reading = read_file(text.encode(), options)
    wrong = [each for each in reading.records if each.cells is None or len(each.cells) != 2]
    places = [slice(each.byte_start, each.byte_start + each.byte_len) for each in wrong]
    reloaded = read_file(error_file(text.encode(), reading.layout, places), build_reload_options(reading.layout))
    has_lines = reading.layout.has_header
    without_lines = [cells[:-1] if cells and has_lines else cells for cells in reloaded.cells]
    assert without_lines == [each.cells for each in wrong] != []
    # Whether records begin with a qualifier is shown by the first one, and only matters for damaged ones.
    grammar = replace(reloaded.layout.grammar, quoted_start=reading.layout.grammar.quoted_start)
    assert grammar == replace(reading.layout.grammar, cells=2 + has_lines)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8"])
def test_rows_behind_a_header_with_the_only_accents_of_a_file_are_read_alike(encoding: str) -> None:
    """A header that says cp1252 says so of the rows after it; the error file is UTF-8, and its options say so."""
    text = "DOCID,Größe,Übersicht\n1,a,b\n"
    layout = read_file(text.encode(encoding), {"columns": {"Größe": "title"}}).layout
    assert (layout.encoding, layout.names) == (encoding, ("DOCID", "Größe", "Übersicht"))
    data = error_file(text.encode(encoding), layout, [slice(layout.body_start, None)])
    reloaded = replace(
        layout,
        encoding="utf-8",
        grammar=replace(layout.grammar, cells=4),
        names=(*layout.names, LINE_COLUMN),
        fields=(*layout.fields, "original_line"),
        body_start=len(data) - len("1,a,b,L2\n"),
    )
    assert read_file(data, build_reload_options(layout)).layout == reloaded


@pytest.mark.parametrize(("encoding", "bom"), [*((name, bom) for bom, name in BOMS), ("cp1252", b""), ("utf-8", b"")])
@given(
    text=st.text(st.sampled_from("aþ\x14®é😀\ufeff\r"), max_size=8),
    size=st.integers(1, 5),
    line=st.sampled_from([None, 7]),
)
def test_an_error_file_has_the_text_of_the_source_in_utf_8(
    encoding: str, bom: bytes, text: str, size: int, line: int | None
) -> None:
    record = text.encode(encoding, "ignore") + b"\x81" + "\n".encode(encoding)
    layout = replace(read_file(b"DOCID\n1\n").layout, encoding=encoding)
    pieces = [record[at : at + size] for at in range(0, len(record), size)]
    header = "DOCID\n"
    written = format_header(bom + header.encode(encoding), layout) + b"".join(format_record(pieces, layout, line))
    row = Form(",", '"', numbered=line is not None).insert(record.decode(encoding, "replace"), f"L{line}")
    assert written == b"\xef\xbb\xbf" + (f"DOCID,{LINE_COLUMN}\n" + row).encode()


@pytest.mark.parametrize("size", [1, 9])
def test_a_mark_before_a_row_of_cp1252_is_not_written_and_each_lost_byte_is_one_sign(size: int) -> None:
    layout, record = read_file("ID\nGrün\n".encode("cp1252")).layout, "\ufeff2".encode()
    pieces = [record[at : at + size] for at in range(0, len(record), size)]
    assert b"".join(format_record(pieces, layout)) == b"2"
    assert "".join(each.decode() for each in format_record([b"\xe2\x82m"], replace(layout, encoding="utf-8"))) == "��m"
