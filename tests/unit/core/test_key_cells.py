"""Ids and names as people, spreadsheets and other programs write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cells.keys import show_text, unwrap_formula
from core.cells.similar_ids import MAX_DIGITS, fold_id, list_spellings
from core.load_file.rows import Row, parse_row
from tests.unit.core.file_reading import read_file


def read_row(text: str, encoding: str = "utf-8") -> Row:
    """The row of a file with these cells."""
    read = read_file(f"Control Number,Title,Custodian\n{text}\n".encode(encoding))
    return parse_row(read.records[0], read.layout)


@pytest.mark.parametrize(
    ("text", "number", "errors", "warnings"),
    [
        ('="00012345",a,', "00012345", [], ["KEY_UNWRAPPED"]),
        ('"=""00012346""",a,', "00012346", [], ["KEY_UNWRAPPED"]),
        ('="",a,', '=""', [], []),
        ('="A"&"B",a,', '="A"&"B"', [], []),
        ("'00012347,a,", "'00012347", [], ["KEY_LOOKS_CHANGED"]),
        ("1.23E+11,a,", "1.23E+11", [], ["KEY_LOOKS_CHANGED"]),
        ("O'Hara-1,a,", "O'Hara-1", [], []),
        ("A\0,a,", "A\0", ["KEY_NOT_STORABLE"], []),
        ("A\tB,a,", "A\tB", ["KEY_NOT_STORABLE"], []),
        (" A\t,a,", "A", [], []),
        ("A\x85,a,", "A\x85", ["KEY_NOT_STORABLE"], []),
        ("A\u200b,a,", "A\u200b", [], ["UNSEEN_CHARACTERS"]),
        ("A\xa0B,a,", "A\xa0B", [], ["UNSEEN_CHARACTERS"]),
        ("Ä-1,a,Ann\xa0Lee", "Ä-1", [], ["UNSEEN_CHARACTERS"]),
        ("A1,a,Ann;\u202eeeL", "A1", [], ["UNSEEN_CHARACTERS"]),
        ("A1,a,C\0y", "A1", [], ["UNSEEN_CHARACTERS"]),
        # The ideographic space and the joiners of some scripts are spelling.
        ("A1,a,山田\u3000太郎;نامه\u200cنگار", "A1", [], []),
        ("A1,has\0nul\u200b,Ann", "A1", [], []),
    ],
)
def test_a_key_is_judged_by_its_characters(text: str, number: str, errors: list[str], warnings: list[str]) -> None:
    row = read_row(text)
    assert row.control_number == number
    assert [error.code for error in row.errors] == errors
    assert [change.code for change in row.changes] == warnings


def test_a_message_names_what_cannot_be_seen_and_is_cut() -> None:
    (change,) = read_row("A\u200bB,a,").changes
    assert "A<U+200B zero width space>B" in change.message
    assert show_text("x" * 201) == "x" * 200 + "..."
    assert unwrap_formula('=" 1 "') == "1"


def test_an_id_in_a_formula_and_the_same_id_are_duplicates() -> None:
    read = read_file(b'Control Number,Title\n="001",a\n001,b\n')
    assert read.splitter.ids == [("001", 2), ("001", 3)]
    with_lines = read_file(b'Control Number,Title\n="001",a\n"001",b\n\n', cuts=[25])
    assert with_lines.splitter.ids == [("001", 2), ("001", 3)]


@given(
    st.from_regex(r"[A-Z]{0,3}[-_.]?[0-9]{1,9}", fullmatch=True),
    st.sampled_from([str.lower, str.upper, str.capitalize]),
)
def test_spellings_have_each_id_that_one_change_makes(number: str, change_case: object) -> None:
    assert callable(change_case)
    digits = number.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.")
    start = number[: len(number) - len(digits)]
    others = {change_case(number), number + "\xa0", number + "\u200b", f"{start}{digits.lstrip('0') or '0'}"}
    others |= {f"{start}{digits.zfill(width)}" for width in range(len(digits), MAX_DIGITS + 1)}
    others |= {other.lower() for other in others}
    for other in others - {number}:
        assert fold_id(other) == fold_id(number)
        if "\xa0" not in other and "\u200b" not in other:
            assert other in list_spellings(number)
        assert number in [*list_spellings(other), number.lower()] or number.upper() in list_spellings(other)


def test_spellings_have_no_other_form() -> None:
    for number in ("ABC 0004", "ABC-0005\xa0", "ABC0006\u200b", "0000123", "x", "A-1-02"):
        assert {fold_id(other) for other in list_spellings(number)} <= {fold_id(number)}
        assert len(list_spellings(number)) < 60
    assert "ABC 0004" in list_spellings("ABC0004")
