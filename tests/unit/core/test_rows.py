"""What a record's cells mean, and that nothing of an accepted row is lost on the way."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given

from core.dates.written_dates import parse_date
from core.exhibit_fields import KEYS, TEXTS
from core.load_file.grammar import Grammar
from core.load_file.layout import Layout
from core.load_file.record_reader import SourceRecord
from core.load_file.rows import MAX_NAMES, Row, parse_row
from samples.generator import Generated
from tests.unit.core.file_reading import clear_files, read_file

COLUMNS = {
    "DOCID": "control_number",
    "Bates": "bates_begin",
    "Parent": "parent_control_number",
    "Title": "title",
    "Date": "document_date",
    "Custodian": "custodians",
    "All": "custodians",
    "Tags": "tags",
    "Note": None,
}


TWO = Grammar(",", '"', 2)


def layout_of(**changes: Any) -> Layout:
    values: dict[str, Any] = {
        "encoding": "utf-8",
        "grammar": Grammar(",", '"', len(COLUMNS)),
        "newline": None,
        "names": tuple(COLUMNS),
        "fields": tuple(COLUMNS.values()),
        "date_order": "MDY",
        "body_start": 0,
        "body_line": 2,
    }
    return Layout(**{**values, **changes})


def row_of(*, lines: int = 1, layout: Layout | None = None, **cells: str) -> Row:
    layout = layout or layout_of()
    texts = [cells.get(name, "1" if name == "DOCID" else "") for name in layout.names]
    return parse_row(SourceRecord(2, lines, 0, 10, texts), layout)


def rebuilt(row: Row, layout: Layout) -> list[str]:
    """The oracle: the cells of the file, from the row alone."""
    originals = {change.column: change.original for change in row.changes if change.original is not None}
    cells = []
    for name, field in zip(layout.names, layout.fields, strict=True):
        text = originals.get(name, row.properties.get(name))
        if text is None and field == "control_number":
            text = row.control_number
        if text is None and field in (*KEYS, *TEXTS):
            text = row.values.get(str(field))
        text = text or ""
        is_mark = layout.newline and row.source.line_count == 1 and name not in originals
        cells.append(text.replace("\n", str(layout.newline)) if is_mark else text)
    return cells


@given(clear_files())
def test_a_row_means_the_truth_and_every_cell_of_an_accepted_one_can_be_rebuilt(generated: Generated) -> None:
    reading = read_file(generated.data, generated.options)
    decided_here = {"MISSING_ID", "WRONG_CELL_COUNT", "MALFORMED_QUOTING", "UNDECODABLE_BYTES"}
    for record, true in zip(reading.records, generated.truth.records, strict=True):
        row = parse_row(record, reading.layout)
        assert {problem.code for problem in row.errors} == true.codes & decided_here
        assert bool(row.errors) or row.control_number is not None
        if not row.errors:
            assert rebuilt(row, reading.layout) == list(true.cells)
        if true.imported:
            assert tuple(name.name for name in row.custodians) == true.custodians
            assert tuple(name.name for name in row.tags) == true.tags
            assert row.values.get("parent_control_number") == true.parent or true.parent is None


def test_several_values_are_split_trimmed_and_taken_once_in_their_order() -> None:
    row = row_of(Custodian="Smith, Anna; Doe, Bob ;;Smith, Anna;", All="Doe, Bob;Ray, C")
    named = [(name.name, name.column) for name in row.custodians]
    assert named == [("Smith, Anna", "Custodian"), ("Doe, Bob", "Custodian"), ("Ray, C", "All")]
    assert row.properties["Custodian"] == "Smith, Anna; Doe, Bob ;;Smith, Anna;"


def test_names_keep_their_case_and_nested_tags_their_path() -> None:
    assert [name.name for name in row_of(Tags="Hot;hot;HOT").tags] == ["Hot", "hot", "HOT"]
    row = row_of(Tags="Hot\\Really Hot\\Super Hot; Look at Later")
    assert [name.name for name in row.tags] == ["Hot\\Really Hot\\Super Hot", "Look at Later"]


def test_more_values_than_can_be_handled_reject_the_row() -> None:
    assert row_of(Tags=";".join(map(str, range(MAX_NAMES)))).errors == []
    (problem,) = row_of(Tags=";".join(map(str, range(MAX_NAMES + 1)))).errors
    assert (problem.code, problem.column) == ("TOO_MANY_VALUES", "Tags")


@pytest.mark.parametrize("text", ["", " ", "\t\r\n\v\f"])
def test_a_blank_id_is_a_missing_one(text: str) -> None:
    row = row_of(DOCID=text)
    (problem,) = row.errors
    assert (problem.code, problem.column, row.control_number) == ("MISSING_ID", "DOCID", None)


def test_an_id_is_trimmed_of_ascii_whitespace_and_nothing_else_is_trimmed() -> None:
    row = row_of(DOCID=" \tA 1\u00a0 ", Title=" a ", Note=" ")
    assert (row.control_number, row.values["title"]) == ("A 1\u00a0", " a ")
    assert row.properties == {"DOCID": " \tA 1\u00a0 ", "Note": " "}
    assert row_of(DOCID="A1").properties == {}


def test_a_date_that_is_none_is_kept_and_warned_of() -> None:
    row = row_of(Date="02/30/2024")
    (change,) = row.changes
    assert (change.code, change.column, change.original) == ("INVALID_DATE", "Date", "02/30/2024")
    assert "MDY" in change.message
    assert (row.document_date, row.properties["Date"], row.errors) == (None, "02/30/2024", [])


DATES = {"5/6/2001": datetime(2001, 5, 6)} | dict.fromkeys(("", "  ", "00/00/0000", "00000000"))


@pytest.mark.parametrize("text", DATES)
def test_a_date_is_read_in_the_order_of_the_file_and_blank_and_zero_dates_are_no_mistakes(text: str) -> None:
    row = row_of(Date=text)
    assert (row.document_date, row.changes) == (DATES[text], [])
    assert row_of(Date=text, layout=layout_of(date_order="DMY")).document_date == parse_date(text, "DMY")


def test_newline_marks_become_line_ends_in_texts_and_properties_where_there_is_a_mark() -> None:
    row = row_of(Title="a®b", Note="®", layout=layout_of(newline="®"))
    assert (row.values["title"], row.properties["Note"], row.changes) == ("a\nb", "\n", [])
    assert row_of(Title="Acme®").values["title"] == "Acme®"


def test_marks_beside_real_line_ends_are_warned_of_with_the_original() -> None:
    row = row_of(Title="a®b\nc", Note="x\ny", lines=3, layout=layout_of(newline="®"))
    (change,) = row.changes
    assert (change.code, change.column, change.original) == ("MIXED_NEWLINES", "Title", "a®b\nc")
    assert (row.values["title"], row.properties["Note"]) == ("a\nb\nc", "x\ny")


def test_ids_and_dates_keep_the_mark_and_names_are_separated_by_it() -> None:
    row = row_of(DOCID="A®1", Custodian="B®2; C", Tags="®", Date="®", layout=layout_of(newline="®"))
    assert (row.control_number, row.properties["Date"], row.tags) == ("A®1", "®", [])
    assert [name.name for name in row.custodians] == ["B", "2", "C"]
    (problem,) = row_of(Tags="®" * MAX_NAMES, layout=layout_of(newline="®")).errors
    assert (problem.code, row.properties["Custodian"]) == ("TOO_MANY_VALUES", "B®2; C")


@pytest.mark.parametrize("lines", [1, 2])
@pytest.mark.parametrize(
    ("name", "field"),
    [("x", "native_path"), ("x", "text_path"), ("x", "file_name"), ("TIFF Path", None), ("All File Paths", None)],
)
def test_paths_and_file_names_keep_the_mark_and_fields_are_warned_about(
    name: str, field: str | None, lines: int
) -> None:
    names, fields = ("DOCID", name), ("control_number", field)
    row = row_of(**{name: "a®b"}, lines=lines, layout=layout_of(names=names, fields=fields, newline="®", grammar=TWO))
    warned = [(change.code, change.column, change.original) for change in row.changes]
    assert warned == ([("NEWLINE_MARK_KEPT", name, "a®b")] if field else [])
    assert (row.values if field else row.properties)[field or name] == "a®b"


def test_a_profile_is_not_a_file_and_has_line_breaks() -> None:
    layout = layout_of(names=("DOCID", "Profile"), fields=("control_number", None), newline="®", grammar=TWO)
    assert row_of(Profile="a®b", layout=layout).properties["Profile"] == "a\nb"


def test_a_row_that_cannot_be_read_says_why() -> None:
    (problem,) = parse_row(SourceRecord(2, 1, 0, 3, ["1", "a"]), layout_of()).errors
    assert problem.code == "WRONG_CELL_COUNT"
    assert f"has 2 cells; the first record of the file has {len(COLUMNS)}." in problem.message
    (problem,) = parse_row(SourceRecord(2, 1, 0, 3, None), layout_of()).errors
    assert (problem.code, problem.column) == ("MALFORMED_QUOTING", None)
    assert '(")' in problem.message


def test_undecodable_bytes_name_each_column_and_the_bytes() -> None:
    row = row_of(Title="caf\udce9", Note="\udcff\udcfe")
    found = [(problem.code, problem.column) for problem in row.errors]
    assert found == [("UNDECODABLE_BYTES", "Title"), ("UNDECODABLE_BYTES", "Note")]
    assert "0xE9" in row.errors[0].message
    assert "0xFF 0xFE" in row.errors[1].message


def test_a_row_that_is_damaged_and_has_no_id_says_both() -> None:
    codes = [problem.code for problem in row_of(DOCID="", Title="\udce9").errors]
    assert codes == ["UNDECODABLE_BYTES", "MISSING_ID"]


@pytest.mark.parametrize(
    ("fields", "cells", "parent"),
    [
        (("bates_begin", "family_begin"), ["A2", " A1 "], "A1"),
        (("bates_begin", "family_begin"), ["A1", "A1"], None),
        (("bates_begin", "family_begin"), ["A3", ""], None),
        (("bates_begin", "family_begin"), ["A®3", "A®1"], "A®1"),
        (("bates_begin", "family_begin", "parent_control_number"), ["A2", "A1", "A0"], "A0"),
        (("bates_begin", "family_begin", "parent_control_number"), ["A2", "A1", " "], "A1"),
        (("bates_begin", "family_begin", "parent_control_number"), ["A1", "A1", ""], None),
        # The id may be a copy of the first Bates number.
        (("control_number", "bates_begin", "family_begin"), ["A2", "A2", "A1"], "A1"),
        (("control_number", "bates_begin", "family_begin"), ["D2", "A2", "A1"], None),
        # A family in Bates numbers names no parent where ids are others.
        (("control_number", "family_begin"), ["D2", "A1"], None),
    ],
)
def test_a_parent_is_what_its_column_says_or_else_the_first_document_of_the_family(
    fields: tuple[str, ...], cells: list[str], parent: str | None
) -> None:
    layout = layout_of(names=fields, fields=fields, grammar=Grammar(",", '"', len(fields)), newline="®")
    row = parse_row(SourceRecord(2, 1, 0, 9, cells), layout)
    assert row.values.get("parent_control_number") == parent
    # The first Bates number is kept beside the id that it is.
    assert (row.control_number, "bates_begin" in row.values) == (cells[0], "bates_begin" in fields)
    assert rebuilt(row, layout) == cells
