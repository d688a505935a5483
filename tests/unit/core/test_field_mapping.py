"""Header names to fields: by synonyms, by preference, by what the uploader says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import FileRefusedError
from core.image_load_file.lines import split_texts
from core.imports.columns.report import describe_columns
from core.load_file.chunk_reader import read_chunk
from core.load_file.encoding import SUPPORTED
from core.load_file.field_mapping import explain_columns, map_columns
from core.load_file.given_columns import name_columns
from core.load_file.grammar import Grammar
from core.load_file.header_names import SYNONYMS, normalise_name
from core.load_file.layout import Layout
from samples.columns import _ID_NAMES, _NAMES, IdStyle, Role

TABLE = (Path(__file__).parents[3] / "docs" / "load-files.md").read_text("utf-8").partition("## Header names")[2]
DOCUMENTED = re.findall(r"^\| (?:`(\w+)`(.*)|none.*) \| (`.*`) \|.*\|$", TABLE.partition("\n## ")[0], re.MULTILINE)


def mapped(names: Sequence[str], given_columns: Mapping[str, str] | None = None) -> tuple[str | None, ...]:
    return map_columns(name_columns(names), given_columns or {})


def refusal(names: Sequence[str], given_columns: Mapping[str, str]) -> FileRefusedError:
    with pytest.raises(FileRefusedError) as caught:
        mapped(names, given_columns)
    return caught.value


@pytest.mark.parametrize(("field", "condition", "names"), DOCUMENTED)
def test_documented_names_are_recognised(field: str, condition: str, names: str) -> None:
    expected = field or None
    for name in re.findall("`(.+?)`", names):
        for written in (name, name.upper(), name.lower(), f" {name} "):
            if condition or expected in ("control_number", "bates_begin"):
                assert mapped(["x", written]) == (None, expected), written
            if not condition and expected != "control_number":
                assert mapped(["DOCID", written]) == ("control_number", expected), written
            elif condition:
                assert mapped(["BEGDOC", written]) == ("bates_begin", None), written


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("date", "Doc Date; Item Date; Sort Date; EndDate; Sent; Start Date; Relevance_Date; Timestamp"),
        ("person", "Author; From; Email To; CC; Last Modified By; Custodian Email; Recipients"),
        ("path", "Export Link; Folder; Original Path; Logical Folders; HYPERLINK"),
        ("id", "Message ID; DOC#; Other Bates; Record No.; Doc ID"),
        (
            None,
            "# of Custodians; Attach Count; Time Zone; Updated; Candidate; Bates Total; 7; To Do",
        ),
    ],
)
def test_a_column_that_is_not_mapped_says_what_it_looks_like(kind: str | None, names: str) -> None:
    titles = ["Control Number", "Document Date", "Custodian", *names.split("; ")]
    given_columns = {"Control Number": "control_number", "Document Date": "document_date"}
    columns = explain_columns(name_columns(titles), given_columns)
    fields, reasons = tuple(column.field for column in columns), tuple(column.why for column in columns)
    layout = Layout("utf-8", Grammar(",", None, len(titles)), None, tuple(titles), fields, "MDY", 0, 1, reasons=reasons)
    described = describe_columns(Layout.from_json(layout.to_json()))
    assert describe_columns(layout, 2) == described[:2]
    assert [(column.field, column.why, column.looks_like) for column in described] == [
        ("control_number", "given", None),
        ("document_date", "given", None),
        ("custodians", "synonym", None),
        *[(None, "property", kind)] * (len(titles) - 3),
    ]


def test_a_layout_of_a_later_version_is_read_without_what_is_unknown_here() -> None:
    layout = Layout(
        "utf-8", Grammar(",", None, 1), None, ("ID",), ("control_number",), "MDY", 0, 1, reasons=("guessed",)
    )
    values = json.loads(layout.to_json())
    later = json.dumps({**values, "later": 1, "grammar": {**values["grammar"], "later": 1}})
    assert Layout.from_json(later) == layout
    assert describe_columns(Layout.from_json(later)) == []


@pytest.mark.parametrize("encoding", SUPPORTED)
@pytest.mark.parametrize("cr_ends", [False, True])
def test_an_earlier_version_shows_a_layout_and_reads_no_chunk_by_it(encoding: str, cr_ends: bool) -> None:
    names = ("ID", "Title")
    grammar = Grammar(",", None, 2, cr_ends=cr_ends)
    layout = Layout(
        encoding,
        grammar,
        None,
        names,
        ("control_number", "title"),
        "MDY",
        0,
        1,
        date_rules=2,
        reasons=("synonym", "synonym"),
    )
    stored = json.loads(layout.to_json())
    # As earlier versions did: they take what they know as it is stored.
    known = {name: stored[name] for name in stored if name not in ("grammar", "load_mode", "files", "date_rules")}
    earlier = Layout(**known, grammar=Grammar(**stored["grammar"]))
    assert describe_columns(earlier) == describe_columns(layout)
    with pytest.raises(LookupError):
        list(read_chunk("1,a\n".encode(encoding), earlier, 1, 0))
    with pytest.raises(LookupError):
        split_texts("1,a\n".encode(encoding), earlier.encoding)
    assert Layout.from_json(json.dumps(stored)) == layout
    assert Layout.from_json(json.dumps({**stored, "encoding": encoding})) == layout, "as they stored it"


def test_a_column_that_is_said_to_be_a_property_looks_like_nothing() -> None:
    columns = explain_columns(("DOCID", "Date"), {"Date": "property"})
    assert (columns[1].field, columns[1].why) == (None, "given")


def test_every_name_that_samples_use_is_recognised() -> None:
    for style, names in _ID_NAMES.items():
        field = "bates_begin" if style is IdStyle.BEGDOC else "control_number"
        assert {mapped([name]) for name in names} == {(field,)}
    for role, names in _NAMES.items():
        field = "custodians" if role is Role.ALL_CUSTODIANS else f"{role.value}s" * (role is Role.CUSTODIAN)
        assert {mapped(["DOCID", name])[1] for name in names} == {field or role.value}


def test_no_name_means_two_fields() -> None:
    names = [name for synonyms in SYNONYMS.values() for name in synonyms]
    assert len(names) == len(set(names))
    assert all(name == normalise_name(name) for name in names)


CASES: list[tuple[list[str], dict[str, str], tuple[str | None, ...]]] = [
    # The id is the control number, before the document id, before the first Bates number.
    (["BEGBATES", "DOCID", "Control Number"], {}, ("bates_begin", None, "control_number")),
    (["BEGBATES", "DOCID"], {}, ("bates_begin", "control_number")),
    (["x", "BEGBATES"], {}, (None, "bates_begin")),
    (["Vol 1::Begin Bates", "Prod Beg Bates", "Control #"], {}, (None, "bates_begin", "control_number")),
    # A name that only resembles the id's or the family's does not replace a known one.
    (["BegBates", "Control ID"], {}, ("bates_begin", None)),
    (["BegBates", "Attach Begin No", "Family Start"], {}, ("bates_begin", None, "family_range")),
    (["Exhibit #", "ID", "Parent ID"], {}, ("control_number", None, "parent_control_number")),
    # For Logikcull, the first attachment is not the first document of the family.
    (["DOCID", "Begin Attach", "Begin Family"], {}, ("control_number", None, "family_begin")),
    (["DOCID", "Start Date", "Date Created"], {}, ("control_number", None, "date_created")),
    (["DOCID", "Start Date", "Date Created"], {"3": "property"}, ("control_number", "document_date", None)),
    (["DOCID", "Item Date", "DATESENT"], {}, ("control_number", "document_date", "date_sent")),
    (["DOCID", "DATESENT"], {"2": "document_date"}, ("control_number", "document_date")),
    # A column of times is one beside its dates only, unless it is given.
    (["DOCID", "DATESENT", "Sent Time", "Time Received"], {}, ("control_number", "date_sent", "time_sent", None)),
    (["DOCID", "Time Sent"], {"2": "time_sent"}, ("control_number", "time_sent")),
    (["DOCID", "Date", "Time", "Begin Time"], {}, ("control_number", "document_date", "document_time", None)),
    # Several columns feed custodians and tags; of another field's, those that were passed over are properties.
    (["DOCID", "Item ID", "Title", "Doc Title"], {}, ("control_number", None, "title", None)),
    (["DOCID", "Custodian", "All Custodians", "Tags"], {}, ("control_number", "custodians", "custodians", "tags")),
    (["DOCID", "Tags", "Issues"], {}, ("control_number", "tags", "tags")),
    # By name or by number; a name that is a number goes before the column of that number.
    (["a", "b", "c"], {"A": "control_number", "3": "title"}, ("control_number", None, "title")),
    (["DOCID", "3", "x"], {"3": "title"}, ("control_number", "title", None)),
    # A name as it is written goes before one that is like it.
    (["Doc ID", "DOCID"], {"DOCID": "control_number", "Doc ID": "title"}, ("title", "control_number")),
    (["ID", "#", "%"], {"ID": "control_number", "%": "title"}, ("control_number", None, "title")),
    # What was given is not taken for something else.
    (["DOCID", "BEGBATES"], {"DOCID": "property"}, (None, "bates_begin")),
    (["DOCID", "Title", "Subject"], {"Subject": "title"}, ("control_number", None, "title")),
    # Several columns may be given as properties and custodians.
    (["DOCID", "b", "c"], {"2": "property", "3": "property"}, ("control_number", None, None)),
    (["DOCID", "b", "c"], {"2": "custodians", "3": "custodians"}, ("control_number", "custodians", "custodians")),
    # What is given to a field of several columns joins those of its names.
    (["DOCID", "Author", "Custodian"], {"Author": "custodians"}, ("control_number", "custodians", "custodians")),
    (["DOCID", "Hot", "Tags"], {"Hot": "tags", "Tags": "property"}, ("control_number", "tags", None)),
]


@pytest.mark.parametrize(("names", "given_columns", "fields"), CASES)
def test_columns_are_mapped_by_what_was_given_and_then_by_their_names(
    names: list[str], given_columns: dict[str, str], fields: tuple[str | None, ...]
) -> None:
    assert mapped(names, given_columns) == fields


def test_a_field_that_is_given_twice_is_refused() -> None:
    error = refusal(["a", "b", "c"], {"a": "title", "b": "title", "c": "control_number"})
    assert (error.code, "title" in str(error)) == ("BAD_OPTIONS", True)


@pytest.mark.parametrize("column", ["Nope", "0", "4", "-1", "1.0", "²", ""])
def test_a_column_that_is_not_there_is_refused_and_named(column: str) -> None:
    error = refusal(["DOCID", "b", "c"], {column: "title"})
    assert error.code == "BAD_OPTIONS"
    assert repr(column) in str(error)


def test_a_file_without_an_id_is_refused_with_its_names_and_what_to_write() -> None:
    error = refusal([f"Column{n}" for n in range(30)], {})
    assert error.code == "NO_ID_COLUMN"
    assert "Column19" in str(error)
    assert "and 10 more" in str(error)
    assert "map it to control_number with option 'columns'" in str(error)


def test_blank_and_repeated_names_become_distinct_ones() -> None:
    names = ["", "Note", " ", "Note", "Note", "Column 3", "Note (2)"]
    assert name_columns(names) == (
        *("Column 1", "Note", "Column 3", "Note (2)", "Note (3)", "Column 3 (2)", "Note (2) (2)"),
    )


@given(st.lists(st.sampled_from(["", " ", "a", "a (2)", "A", "Column 1", "Column 2", "Column 2 (2)"]), max_size=9))
def test_names_are_always_distinct_and_never_blank(cells: list[str]) -> None:
    names = name_columns(cells)
    assert len(set(names)) == len(names) == len(cells)
    assert all(names)
    assert all(name.startswith(cell.strip()) for name, cell in zip(names, cells, strict=True))
