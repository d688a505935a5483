"""What a row of an overlay changes: its columns, exactly, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from core.exhibit_history import Key, Kind
from core.imports.overlay import OverlaidDocument, PropertyChanges, RowOverlay, is_blank
from tests.unit.core.file_reading import read_file
from tests.unit.core.overlaid_files import CLEAR, KEEP, Cells, overlaid, parsed


def changed(first: Cells, second: Cells, options: dict[str, Any]) -> dict[str, str | None]:
    """What the second row changes in the document that the first one created; a property that goes is `gone`."""
    before = parsed({"Control Number": "A-1", **first}).document
    after = overlaid(before, parsed({"Control Number": "A-1", **second}, options))
    fields = {name: value for name, value in after.fields.items() if value != before.fields[name]}
    names = before.properties.keys() | after.properties.keys()
    was, now = ({name: each.properties.get(name, "gone") for name in names} for each in (before, after))
    return fields | {f"[{name}]": now[name] for name in names if now[name] != was[name]}


SENT = "date_sent"
DAY, LATER = "2001-01-31 00:00:00.000000", "2002-02-28 00:00:00.000000"
AT_TEN = "2001-01-31 10:00:00.000000"
# The cells of the first row and of the second one, what keeping changes and what clearing changes.
RULES: list[tuple[str, Cells, Cells, dict[str, str | None], dict[str, str | None]]] = [
    ("a column that the file lacks", {"Title": "one", "Author": "Ann"}, {}, {}, {}),
    ("a text", {"Title": "one"}, {"Title": "uno"}, {"title": "uno"}, {"title": "uno"}),
    ("a text of other case", {"Title": "one"}, {"Title": "One"}, {"title": "One"}, {"title": "One"}),
    ("a text with a space", {"Title": "one"}, {"Title": "one "}, {"title": "one "}, {"title": "one "}),
    ("a blank text", {"Title": "one"}, {"Title": ""}, {}, {"title": None}),
    ("a padded blank text", {"Title": "one"}, {"Title": " \t "}, {}, {"title": None}),
    ("a text that was padding", {"Title": "  "}, {"Title": "  "}, {}, {"title": None}),
    ("a property", {"Author": "Ann"}, {"Author": "Bob"}, {"[Author]": "Bob"}, {"[Author]": "Bob"}),
    ("a new property", {}, {"Author": "Bob"}, {"[Author]": "Bob"}, {"[Author]": "Bob"}),
    ("a blank property", {"Author": "Ann"}, {"Author": ""}, {}, {"[Author]": "gone"}),
    ("a padded blank property", {"Author": "Ann"}, {"Author": "  "}, {}, {"[Author]": "gone"}),
    ("another property", {"Author": "Ann"}, {"Editor": ""}, {}, {}),
    (
        "an id with spaces",
        {"Bates Begin": "N-1"},
        {"Bates Begin": " N-2 "},
        {"bates_begin": "N-2", "[Bates Begin]": " N-2 "},
        {"bates_begin": "N-2", "[Bates Begin]": " N-2 "},
    ),
    (
        "an id that had spaces",
        {"Bates Begin": " N-1 "},
        {"Bates Begin": "N-1"},
        {"[Bates Begin]": "gone"},
        {"[Bates Begin]": "gone"},
    ),
    (
        "a control number that had spaces",
        {"Control Number": " A-1"},
        {"Title": ""},
        {"[Control Number]": "gone"},
        {"[Control Number]": "gone"},
    ),
    (
        "a blank id that had spaces",
        {"Bates Begin": " N-1 "},
        {"Bates Begin": "  "},
        {},
        {"bates_begin": None, "[Bates Begin]": "gone"},
    ),
    (
        "a parent where one follows from the family",
        {"Bates Begin": "A-1", "BegAttach": "P-1", "Parent ID": ""},
        {"Parent ID": "P-2"},
        {"parent_control_number": "P-2", "[Parent ID]": "gone"},
        {"parent_control_number": "P-2", "[Parent ID]": "gone"},
    ),
    (
        "a family without a column of parents",
        {"Bates Begin": "A-1", "BegAttach": "P-1"},
        {"Bates Begin": "A-1", "BegAttach": "P-3"},
        {"[BegAttach]": "P-3"},
        {"[BegAttach]": "P-3"},
    ),
    (
        "a blank parent",
        {"Parent ID": "P-1"},
        {"Parent ID": " "},
        {},
        {"parent_control_number": None},
    ),
    (
        "a blank parent that follows from the family",
        {"Parent ID": "P-1"},
        {"Bates Begin": "A-1", "BegAttach": "P-3", "Parent ID": ""},
        {"bates_begin": "A-1", "[BegAttach]": "P-3"},
        {"bates_begin": "A-1", "[BegAttach]": "P-3", "parent_control_number": "P-3", "[Parent ID]": ""},
    ),
    (
        "a date, and the document date that follows",
        {"Date Sent": "2001-01-31"},
        {"Date Sent": "2002-02-28"},
        {SENT: LATER, "document_date": LATER, "[Date Sent]": "2002-02-28"},
        {SENT: LATER, "document_date": LATER, "[Date Sent]": "2002-02-28"},
    ),
    (
        "a date that the document date does not follow",
        {"Document Date": "2001-01-31"},
        {"Date Sent": "2002-02-28"},
        {SENT: LATER, "date_sent_precision": "D", "[Date Sent]": "2002-02-28"},
        {SENT: LATER, "date_sent_precision": "D", "[Date Sent]": "2002-02-28"},
    ),
    (
        "a document date of its own",
        {"Date Sent": "2001-01-31"},
        {"Document Date": "2002-02-28"},
        {"document_date": LATER, "document_date_source": None, "[Document Date]": "2002-02-28"},
        {"document_date": LATER, "document_date_source": None, "[Document Date]": "2002-02-28"},
    ),
    (
        "a blank date",
        {"Date Sent": "2001-01-31"},
        {"Date Sent": ""},
        {},
        {
            SENT: None,
            "date_sent_precision": None,
            "[Date Sent]": "gone",
            "document_date": None,
            "document_date_source": None,
            "document_date_precision": None,
        },
    ),
    (
        "a blank document date",
        {"Document Date": "2001-01-31"},
        {"Document Date": " ", "Date Sent": "2001-01-31"},
        {SENT: DAY, "date_sent_precision": "D", "[Date Sent]": "2001-01-31"},
        {
            SENT: DAY,
            "date_sent_precision": "D",
            "[Date Sent]": "2001-01-31",
            "document_date": None,
            "document_date_precision": None,
            "[Document Date]": "gone",
        },
    ),
    (
        "a date that is invalid",
        {"Document Date": "2001-01-31"},
        {"Document Date": "2001-02-31"},
        {"document_date": None, "document_date_precision": None, "[Document Date]": "2001-02-31"},
        {"document_date": None, "document_date_precision": None, "[Document Date]": "2001-02-31"},
    ),
    (
        "a date with its time",
        {"Document Date": "2001-01-31"},
        {"Document Date": "2001-01-31", "Document Time": "10:00"},
        {"document_date": AT_TEN, "document_date_precision": "T", "[Document Time]": "10:00"},
        {"document_date": AT_TEN, "document_date_precision": "T", "[Document Time]": "10:00"},
    ),
    (
        "a date with a blank time",
        {"Document Date": "2001-01-31", "Document Time": "10:00"},
        {"Document Date": "2001-01-31", "Document Time": ""},
        {"document_date": DAY, "document_date_precision": "D"},
        {"document_date": DAY, "document_date_precision": "D", "[Document Time]": "gone"},
    ),
    (
        "a time with a blank date",
        {"Document Date": "2001-01-31", "Document Time": "10:00"},
        {"Document Date": "", "Document Time": "11:00"},
        {"[Document Time]": "11:00"},
        {
            "document_date": None,
            "document_date_precision": None,
            "[Document Date]": "gone",
            "[Document Time]": "11:00",
        },
    ),
    (
        "the text of names",
        {"Custodian": "Smith", "Tags": "hot"},
        {"Custodian": "Jones;Smith", "Tags": " "},
        {"[Custodian]": "Jones;Smith"},
        {"[Custodian]": "Jones;Smith", "[Tags]": "gone"},
    ),
    ("the line of an error file", {"Title": "one"}, {"Title": "", "ExhibitIngestLine": "L2"}, {}, {"title": None}),
]


@pytest.mark.parametrize(
    ("first", "second", "keeping", "clearing"), [each[1:] for each in RULES], ids=[r[0] for r in RULES]
)
def test_a_row_changes_what_its_cells_say(
    first: Cells, second: Cells, keeping: dict[str, str | None], clearing: dict[str, str | None]
) -> None:
    assert changed(first, second, KEEP) == keeping
    assert changed(first, second, CLEAR) == clearing


SENT_MEMBERS = {SENT, "date_sent_precision", "[Date Sent]"}
FOLLOWING = {"document_date", "document_date_precision", "document_date_source"}
# The cells of the first row and of the second one, what the second one changes, and what is set with it.
COMPANIONS: list[tuple[str, Cells, Cells, set[str], set[str]]] = [
    ("nothing", {"Date Sent": "2001-01-31"}, {"Date Sent": "2001-01-31", "Title": "uno"}, set(), set()),
    (
        "the text of a date",
        {"Date Sent": "2001-01-31"},
        {"Date Sent": "31 Jan 2001"},
        {"[Date Sent]"},
        SENT_MEMBERS | FOLLOWING,
    ),
    (
        "a date, but not the document date",
        {"Date Sent": "2001-01-31", "Document Date": "2001-01-31"},
        {"Date Sent": "2002-02-28", "Document Date": "2001-01-31"},
        {SENT},
        SENT_MEMBERS,
    ),
    (
        "the source of the document date",
        {"Date Sent": "2001-01-31"},
        {"Date Sent": "2001-01-31", "Document Date": "2001-01-31"},
        {"document_date_source"},
        FOLLOWING | {"[Document Date]"},
    ),
    (
        "the text of a time",
        {"Date Received": "2001-01-31", "Time Received": "10:00"},
        {"Date Received": "2001-01-31", "Time Received": "10:00:00"},
        {"[Time Received]"},
        {"date_received", "date_received_precision", "[Date Received]", "[Time Received]"} | FOLLOWING,
    ),
    ("the text of an id", {"Bates End": "N-1"}, {"Bates End": " N-1"}, {"[Bates End]"}, {"bates_end", "[Bates End]"}),
]


@pytest.mark.parametrize(
    ("first", "second", "differing", "expected"), [c[1:] for c in COMPANIONS], ids=[c[0] for c in COMPANIONS]
)
def test_what_a_cell_sets_together_is_recorded_together(
    first: Cells, second: Cells, differing: set[str], expected: set[str]
) -> None:
    stored = parsed({"Control Number": "A-1", **first}).document
    row = parsed({"Control Number": "A-1", **second}, KEEP)
    changed = {Key(Kind.PROPERTY, name[1:-1]) if "[" in name else Key(Kind.FIELD, name) for name in differing}
    properties = row.overlay.find_properties(row.cells, row.document)
    found = row.overlay.find_companions(row.cells, stored, properties, changed)
    assert {f"[{key.name}]" if key.kind is Kind.PROPERTY else key.name for key in found} == expected


def test_a_cell_after_the_last_column_changes_nothing() -> None:
    reading = read_file(b"Control Number,Title,\r\nA-1,one,\r\nA-2,two,\r\n", CLEAR)
    overlay = RowOverlay(reading.layout)
    assert reading.layout.grammar.spare_cell
    for cells in filter(None, reading.cells):
        new = OverlaidDocument(
            {**dict.fromkeys(parsed({"Control Number": "A"}).document.fields), "title": cells[1]}, {}
        )
        assert overlay.find_fields(cells, new, new) == {"title": cells[1]}
        assert overlay.find_properties(cells, new) == PropertyChanges({}, frozenset({"Control Number"}))


def test_a_property_that_could_not_be_stored_leaves_the_stored_one() -> None:
    before = parsed({"Control Number": "A-1", "Author": "Ann", "Editor": "Eve"}).document
    row = parsed({"Control Number": "A-1", "Author": "too long", "Editor": "Zoe"}, CLEAR)
    kept = OverlaidDocument(row.document.fields, {"Editor": "Zoe"})
    assert overlaid(before, row._replace(document=kept)).properties == {"Author": "Ann", "Editor": "Zoe"}


@pytest.mark.parametrize(
    ("options", "replaces", "clears"),
    [(KEEP, False, False), (CLEAR, False, True), ({**KEEP, "multi_values": "replace"}, True, False)],
)
def test_the_options_of_a_file_are_those_of_its_rows(options: dict[str, Any], replaces: bool, clears: bool) -> None:
    overlay = parsed({"Control Number": "A-1"}, options).overlay
    assert (overlay.replaces_names, overlay.clears) == (replaces, clears)


@pytest.mark.parametrize(
    ("cells", "options", "expected"),
    [(["A", ""], CLEAR, True), (["A", " "], CLEAR, False), (["A", "\t\n"], CLEAR, False), (["A", " "], KEEP, True)],
)
def test_padding_that_clears_is_not_what_a_new_document_has(
    cells: list[str], options: dict[str, Any], expected: bool
) -> None:
    assert parsed({"Control Number": "A", "Title": ""}, options).overlay.is_as_new(cells) is expected


@pytest.mark.parametrize(("cell", "expected"), [("", True), (" \t\r\n", True), (" x ", False), ("\xa0", False)])
def test_a_blank_cell_has_nothing_but_whitespace(cell: str, expected: bool) -> None:
    assert is_blank(cell) is expected
