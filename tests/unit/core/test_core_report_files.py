"""Byte ranges are read in few windows, and cells of a report are not evaluated."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.imports.report_files import (
    MAX_GAP_BYTES,
    MAX_WINDOW_BYTES,
    build_reload_options,
    group_ranges,
    neutralize_formula,
)
from core.load_file.options import parse_options
from tests.unit.core.reading import read_file

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


@settings(max_examples=200, deadline=None)
@given(st.lists(STEPS, max_size=12).map(ranges_of))
def test_windows_hold_all_ranges_in_order_and_only_one_range_is_larger_than_a_window(
    ranges: list[tuple[int, int]],
) -> None:
    found = list(group_ranges(ranges))
    assert [one for window in found for one in window.ranges] == ranges
    for window in found:
        assert (window.start, window.end) == (window.ranges[0][0], window.ranges[-1][1])
        assert len(window.ranges) == 1 or window.end - window.start <= MAX_WINDOW_BYTES
        assert all(after[0] - before[1] <= MAX_GAP_BYTES for before, after in pairwise(window.ranges))


@settings(max_examples=200, deadline=None)
@given(st.lists(STEPS, max_size=12).map(ranges_of))
def test_windows_that_could_be_one_are_one(ranges: list[tuple[int, int]]) -> None:
    for one, other in pairwise(group_ranges(ranges)):
        first = other.ranges[0]
        assert first[0] - one.end > MAX_GAP_BYTES or first[1] - one.start > MAX_WINDOW_BYTES


def test_no_ranges_make_no_window() -> None:
    assert list(group_ranges([])) == []


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\0=1", "＝1", "＋1", "－1", "＠A1"]
)
def test_a_cell_that_a_spreadsheet_would_evaluate_is_text(cell: str) -> None:
    assert neutralize_formula(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "EXH0001", "a=1", " =1", "'=1", "1-2"])
def test_other_cells_stay_as_they_are(cell: str) -> None:
    assert neutralize_formula(cell) == cell


FILES = [
    "þDOCIDþ\x14þDocDateþ\n" + "þ1þ\x14þ21/05/2001þ\n",
    "DOCID|Custodian|DocDate\n1|Smith, A|5/6/2001\n",
    "DOCID\tTitle\n1\té\n",
]


@pytest.mark.parametrize("text", FILES)
def test_a_file_is_read_alike_with_the_options_that_its_report_gives(text: str) -> None:
    layout = read_file(text.encode()).layout
    options = build_reload_options(layout)
    assert parse_options(options)
    assert read_file(text.encode(), options).layout == layout


def test_rows_behind_a_header_with_the_only_accents_of_a_file_are_read_alike() -> None:
    """A header that says cp1252 says so of the rows behind it, and the report says it of the rows that come back."""
    for encoding in ("cp1252", "utf-8"):
        data = "DOCID,Größe,Übersicht\n1,a,b\n".encode(encoding)
        layout = read_file(data, {"columns": {"Größe": "title"}}).layout
        assert (layout.encoding, layout.names) == (encoding, ("DOCID", "Größe", "Übersicht"))
        assert read_file(data, build_reload_options(layout)).layout == layout


def test_a_column_that_was_given_as_a_property_is_none_of_our_fields_when_its_rows_come_back() -> None:
    data = b"DOCID,Title,Tags,Begin Attach,Other\n1,a,b,c,d\n"
    given = {"Title": "property", "Tags": "property", "Begin Attach": "property"}
    layout = read_file(data, {"columns": given}).layout
    assert layout.fields == ("control_number", None, None, None, None)
    assert build_reload_options(layout)["columns"] == {"DOCID": "control_number", **given}
    assert read_file(data, build_reload_options(layout)).layout == layout


@pytest.mark.parametrize(
    ("header", "properties"),
    [
        ("Control Number,Doc ID,Beg Bates,Text", ["Control Number", "Doc ID"]),
        ("DOCID,Date Sent,Date Received,Date Created", ["Date Sent", "Date Received", "Date Created"]),
        ("DOCID,Title,Doc Title,Other", ["Title", "Doc Title"]),
    ],
)
def test_of_several_columns_of_one_meaning_that_were_properties_none_takes_its_place(
    header: str, properties: list[str]
) -> None:
    """As an id or a date that nobody chose, its rows would come back as others."""
    data = f"{header}\n1,2,3,4\n".encode()
    layout = read_file(data, {"columns": dict.fromkeys(properties, "property")}).layout
    assert read_file(data, build_reload_options(layout)).layout == layout
