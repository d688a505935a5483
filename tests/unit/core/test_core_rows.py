"""What a record's cells mean, and that nothing of an accepted row is lost on the way."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings

from core.load_file.chunk_reader import SourceRecord
from core.load_file.dates import parse_date
from core.load_file.grammar import Grammar
from core.load_file.layout import Layout
from core.load_file.rows import KEYS, MAX_NAMES, TEXTS, Row, parse_row
from samples.generator import Generated
from tests.unit.core.clear_samples import clear_files
from tests.unit.core.reading import read_file

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


def family_layout(*fields: str | None) -> Layout:
    names = tuple(field or f"x{n}" for n, field in enumerate(fields))
    return layout_of(names=names, fields=fields, grammar=Grammar(",", '"', len(fields)))


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


@settings(max_examples=90, deadline=None)
@given(clear_files())
def test_every_cell_of_an_accepted_row_can_be_rebuilt(generated: Generated) -> None:
    reading = read_file(generated.data, generated.options)
    for record, true in zip(reading.records, generated.truth.records, strict=True):
        row = parse_row(record, reading.layout)
        assert bool(row.errors) or row.control_number is not None
        if not row.errors:
            assert rebuilt(row, reading.layout) == list(true.cells)


@settings(max_examples=90, deadline=None)
@given(clear_files())
def test_what_a_row_means_is_the_truth(generated: Generated) -> None:
    reading = read_file(generated.data, generated.options)
    decided_here = {"MISSING_ID", "WRONG_CELL_COUNT", "MALFORMED_QUOTING", "UNDECODABLE_BYTES"}
    for record, true in zip(reading.records, generated.truth.records, strict=True):
        row = parse_row(record, reading.layout)
        assert {problem.code for problem in row.errors} == true.codes & decided_here
        if true.imported:
            assert tuple(name.name for name in row.custodians) == true.custodians
            assert tuple(name.name for name in row.tags) == true.tags
            assert row.values.get("parent_control_number") == true.parent or true.parent is None


def test_several_values_are_split_trimmed_and_taken_once_in_their_order() -> None:
    row = row_of(Custodian="Smith, Anna; Doe, Bob ;;Smith, Anna;", All="Doe, Bob;Ray, C")
    named = [(name.name, name.column) for name in row.custodians]
    assert named == [("Smith, Anna", "Custodian"), ("Doe, Bob", "Custodian"), ("Ray, C", "All")]
    assert row.properties["Custodian"] == "Smith, Anna; Doe, Bob ;;Smith, Anna;"


def test_names_that_differ_by_case_are_left_to_the_database() -> None:
    assert [name.name for name in row_of(Tags="Hot;hot;HOT").tags] == ["Hot", "hot", "HOT"]


def test_nested_tags_are_their_full_path() -> None:
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


def test_an_id_is_trimmed_of_ascii_whitespace_and_of_nothing_else() -> None:
    row = row_of(DOCID=" \tA 1\u00a0 ")
    assert row.control_number == "A 1\u00a0"
    assert row.properties == {"DOCID": " \tA 1\u00a0 "}
    assert row_of(DOCID="A1").properties == {}


def test_other_cells_are_not_trimmed() -> None:
    row = row_of(Title=" a ", Note=" ")
    assert (row.values["title"], row.properties["Note"]) == (" a ", " ")


def test_a_date_that_is_none_is_kept_and_warned_of() -> None:
    row = row_of(Date="02/30/2024")
    (change,) = row.changes
    assert (change.code, change.column, change.original) == ("INVALID_DATE", "Date", "02/30/2024")
    assert "MDY" in change.message
    assert (row.document_date, row.properties["Date"], row.errors) == (None, "02/30/2024", [])


@pytest.mark.parametrize("text", ["", "  ", "00/00/0000", "00000000"])
def test_blank_and_zero_dates_are_no_dates_and_no_mistakes(text: str) -> None:
    row = row_of(Date=text)
    assert (row.document_date, row.changes) == (None, [])


def test_a_date_is_read_in_the_order_of_the_file() -> None:
    assert row_of(Date="5/6/2001").document_date == datetime(2001, 5, 6)
    assert row_of(Date="5/6/2001", layout=layout_of(date_order="DMY")).document_date == parse_date("5/6/2001", "DMY")


def test_newline_marks_become_line_ends_in_texts_and_properties() -> None:
    row = row_of(Title="a®b", Note="®", layout=layout_of(newline="®"))
    assert (row.values["title"], row.properties["Note"], row.changes) == ("a\nb", "\n", [])


def test_without_a_mark_the_sign_is_a_character() -> None:
    assert row_of(Title="Acme®").values["title"] == "Acme®"


def test_marks_beside_real_line_ends_are_warned_of_with_the_original() -> None:
    row = row_of(Title="a®b\nc", Note="x\ny", lines=3, layout=layout_of(newline="®"))
    (change,) = row.changes
    assert (change.code, change.column, change.original) == ("MIXED_NEWLINES", "Title", "a®b\nc")
    assert (row.values["title"], row.properties["Note"]) == ("a\nb\nc", "x\ny")


def test_ids_names_and_dates_keep_the_mark_as_it_is() -> None:
    row = row_of(DOCID="A®1", Custodian="B®2", Date="®", layout=layout_of(newline="®"))
    assert (row.control_number, row.custodians[0].name, row.properties["Date"]) == ("A®1", "B®2", "®")


def test_a_wrong_number_of_cells_says_how_many_there_are() -> None:
    row = parse_row(SourceRecord(2, 1, 0, 3, ["1", "a"]), layout_of())
    (problem,) = row.errors
    assert problem.code == "WRONG_CELL_COUNT"
    assert "2 cells" in problem.message
    assert str(len(COLUMNS)) in problem.message


def test_damaged_quoting_names_the_qualifier() -> None:
    (problem,) = parse_row(SourceRecord(2, 1, 0, 3, None), layout_of()).errors
    assert (problem.code, problem.column) == ("MALFORMED_QUOTING", None)
    assert '"' in problem.message


def test_undecodable_bytes_name_each_column_and_the_bytes() -> None:
    row = row_of(Title="caf\udce9", Note="\udcff\udcfe")
    found = [(problem.code, problem.column) for problem in row.errors]
    assert found == [("UNDECODABLE_BYTES", "Title"), ("UNDECODABLE_BYTES", "Note")]
    assert "0xE9" in row.errors[0].message
    assert "0xFF 0xFE" in row.errors[1].message


def test_a_row_that_is_damaged_and_has_no_id_says_both() -> None:
    codes = [problem.code for problem in row_of(DOCID="", Title="\udce9").errors]
    assert codes == ["UNDECODABLE_BYTES", "MISSING_ID"]


def family(layout: Layout, *cells: str) -> str | None:
    return parse_row(SourceRecord(2, 1, 0, 9, list(cells)), layout).values.get("parent_control_number")


def test_a_member_of_a_family_has_its_first_document_as_parent() -> None:
    layout = family_layout("bates_begin", "family_begin")
    assert family(layout, "A2", " A1 ") == "A1"
    assert family(layout, "A1", "A1") is None
    assert family(layout, "A3", "") is None


def test_a_parent_column_wins_over_the_family() -> None:
    layout = family_layout("bates_begin", "family_begin", "parent_control_number")
    assert family(layout, "A2", "A1", "A0") == "A0"
    assert family(layout, "A2", "A1", "") is None


def test_a_family_in_bates_numbers_names_no_parent_where_ids_are_others() -> None:
    assert family(family_layout("control_number", "family_begin"), "D2", "A1") is None


def test_the_first_bates_number_is_kept_beside_the_id_that_it_is() -> None:
    row = parse_row(SourceRecord(2, 1, 0, 9, ["A1"]), family_layout("bates_begin"))
    assert (row.control_number, row.values) == ("A1", {"bates_begin": "A1"})
