"""What cells state about families, and what of them names nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.families.kinds import FamilyKind
from core.families.statements import MAX_MEMBERS, FamilyColumns, split_members, split_range
from core.families.unread import KindCount, describe_unread
from core.load_file.field_mapping import map_columns
from core.load_file.grammar import Grammar
from core.load_file.layout import Layout


def layout(names: Sequence[str], newline: str | None = None) -> Layout:
    """The layout of a file with these columns."""
    return Layout("utf-8", Grammar(",", None, len(names)), newline, tuple(names), map_columns(names, {}), "MDY", 0, 1)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("A1 - A3", ("A1", "A3")),
        ("A1-A3", ("A1", "A3")),
        ("A1 \u2013 A3", ("A1", "A3")),
        ("A1\u2014A3", ("A1", "A3")),
        ("ABC 001 to ABC 010", ("ABC 001", "ABC 010")),
        ("ABC001 thru ABC010", ("ABC001", "ABC010")),
        ("A-1-A-3", ("A-1", "A-3")),
        ("A-1 - A-3", ("A-1", "A-3")),
        ("A1", ("A1", "")),
        ("ABC-001", ("ABC-001", "")),
        ("2019-01", ("2019-01", "")),
        ("A1 - A2 - A3", ("A1 - A2 - A3", "")),
        ("-", ("-", "")),
        ("A-A", ("A-A", "")),
    ],
)
def test_a_range_is_split_where_both_halves_have_one_form(cell: str, expected: tuple[str, str]) -> None:
    assert split_range(cell) == expected


@given(
    prefix=st.sampled_from(["", "A", "ABC-", "A.B "]), numbers=st.lists(st.integers(0, 99_999), min_size=2, max_size=2)
)
def test_any_range_of_one_prefix_is_split(prefix: str, numbers: list[int]) -> None:
    begin, end = (f"{prefix}{number:05}" for number in sorted(numbers))
    for between in (" - ", "-", " to ", "\u2013"):
        assert split_range(f"{begin}{between}{end}") == (begin, end)


def test_a_number_of_the_document_itself_is_no_range() -> None:
    assert split_range("19-20", ("19-20", "")) == ("19-20", "")


def test_a_list_has_each_id_once_in_order_and_as_many_as_are_read() -> None:
    assert split_members(" A-2;A-3 ; ;A-2, A-4|A-5\nA-6") == ["A-2", "A-3", "A-4", "A-5", "A-6"]
    assert len(split_members(";".join(map(str, range(MAX_MEMBERS + 5))))) == MAX_MEMBERS


def test_a_row_states_what_each_of_its_columns_says() -> None:
    names = ("Control Number", "Begin Bates", "Begin Attachment", "ATTACHRANGE", "Group Identifier", "Attachment IDs")
    cells = ("C-1", "B-1", " B-7 ", "B-7-B-9", "", "C-2\u00aeC-3")
    found = FamilyColumns(layout(names, "\u00ae")).list_stated(cells, "C-1")
    assert [tuple(each) for each in found] == [
        (FamilyKind.BEGIN, "B-7"),
        (FamilyKind.RANGE, "B-7"),
        (FamilyKind.GROUP, None),
        (FamilyKind.MEMBERS, "C-2"),
        (FamilyKind.MEMBERS, "C-3"),
    ]


@pytest.mark.parametrize(
    ("field", "names"),
    [
        (
            "family_range",
            "ATTACHRANGE; Attachment Range; BEGATTRANGE; AttRangeBeg; FamilyStart; Attach Start; BegRange",
        ),
        ("family_group", "Group Identifier; GROUP_ID; Family ID; FamilyID; Family Group; Attachment Group ID"),
        ("family_members", "Attachment IDs; ATTACHIDS; Attachment Doc IDs; Child IDs; AttachDocIDs"),
        ("family_begin", "BEGATTACH; Begin Attachment; Beg Family"),
        (None, "Attach Count; # of Attachments; Attachment Names; Family Date; End Attachment; Group; Thread Group"),
    ],
)
def test_names_of_columns_that_state_families(field: str | None, names: str) -> None:
    for name in re.split("; ", names):
        assert map_columns(["DOCID", name], {}) == ("control_number", field), name


def test_a_long_value_is_cut_in_the_message_and_says_so() -> None:
    count = KindCount(5)
    for key in ("x" * 500, "A\nB", "A\nB", "C", "D"):
        count.add_missing(key, 2)
    [(column, message)] = describe_unread({FamilyKind.BEGIN: count}, {"family_begin": "BEGATTACH"})
    assert column == "BEGATTACH"
    assert message.startswith("5 of the 5 values that name the first document of a family are of no document")
    assert f"such as {'x' * 200}… (cut) (line 2), A B (line 2), C (line 2). No parent" in message
    assert len(message) <= 1000
