"""Facts come from the right columns, ids and names are folded alike, and dates have bounds."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cells.similar_ids import fold_id, fold_ids
from core.checks.dates import check_date
from core.checks.fact_columns import FactColumns
from core.checks.facts import RowFacts
from core.checks.findings import FactNames
from core.checks.names import fold_person
from core.codes import CheckCode
from core.load_file.rows import parse_row
from tests.unit.core.file_reading import read_file

MD5, SHA256 = "0F" * 16, "ab" * 32
NOW = datetime(2026, 11, 23, 12)


def facts(text: str) -> tuple[FactNames, list[RowFacts | None]]:
    """The names of the columns and the facts of every row of a CSV file."""
    reading = read_file(text.encode())
    columns = FactColumns.find(reading.layout)
    return columns.names, [columns.read_row(parse_row(record, reading.layout)) for record in reading.records]


def test_facts_are_those_of_the_columns_that_the_import_uses() -> None:
    names, rows = facts(
        "Begin Bates,End Bates,Begin Attach,End Attach,Parent MD5,MD5 Hash,Page Count,Title\n"
        f"A1,A2,A1,A4,{SHA256},{MD5},2,x\n"
        f" A3 , A4,A1,A4,,not a hash,0,x\n"
        f",A5,,,,{MD5},two,x\n"
    )
    assert names == FactNames(
        *("Begin Bates", "Begin Bates", "End Bates", "Begin Attach"),
        *("MD5 Hash", "Page Count", "Begin Attach", "End Attach"),
    )
    assert rows == [
        RowFacts(2, "A1", "A1", "A2", "", MD5.lower(), 2, "A1", "A4"),
        RowFacts(3, "A3", "A3", "A4", "A1", "", None, "A1", "A4"),
        # Rejected: it has no id.
        None,
    ]


def test_facts_are_taken_out_of_formulas_as_keys_are() -> None:
    header, row = "Begin Bates,End Bates,End Attach,Begin Attach,Page Count", ("A1", "A2", "A4", "A1", "2")
    formulas = ",".join(f'"=""{cell}"""' for cell in row)
    assert facts(f"{header}\n{formulas}\n") == facts(f"{header}\n{','.join(row)}\n")


def test_a_row_that_names_itself_as_parent_has_none_and_the_strongest_hash_counts() -> None:
    names, rows = facts(
        f"Control Number,Parent ID,File Hash,MD5,SHA-256\nD1,D1,{MD5},{MD5},{SHA256}\nD2,D1,{MD5},{MD5},\n"
    )
    assert (names.parent, names.native_hash, names.bates_begin) == ("Parent ID", "SHA-256", None)
    assert rows == [RowFacts(2, "D1", native_hash=SHA256), RowFacts(3, "D2", "", "", "D1", MD5.lower())]


@pytest.mark.parametrize(
    ("begin", "ends", "used"),
    [
        ("BEGATTACH", "ENDATTACH", "ENDATTACH"),
        ("Begin Family", "End Attach,End Family", "End Family"),
        ("Beg Attach", "Attachment End", "Attachment End"),
        ("ProdBegAttach", "ProdEndAttach", "ProdEndAttach"),
        ("BATES_BEGATTACH", "BATES_ENDATTACH", "BATES_ENDATTACH"),
        ("Starting Bates of Family", "Ending Bates of Family", "Ending Bates of Family"),
        ("BEGINGROUP", "ENDGROUP", "ENDGROUP"),
        ("BegAttach", "AttachCount,End Date", None),
    ],
)
def test_the_end_of_a_family_is_found_by_its_name(begin: str, ends: str, used: str | None) -> None:
    names, _ = facts(f"DOCID,{begin},{ends}\n" + "D1,A1" + ",A2" * len(ends.split(",")) + "\n")
    assert (names.family_begin, names.family_end) == (begin, used)


@pytest.mark.parametrize("name", ["MD5 Hash", "SHA1", "File Hash", "HASHVALUE", "MD5_HASH", "Native SHA-256"])
def test_a_hash_is_found_by_its_name(name: str) -> None:
    assert facts(f"DOCID,{name}\nD1,{MD5}\n")[0].native_hash == name


@pytest.mark.parametrize("name", ["Parent MD5", "Family Hash", "Email Hash", "MD5 of Parent", "Hash Tags"])
def test_other_hashes_are_not_those_of_natives(name: str) -> None:
    assert facts(f"DOCID,{name}\nD1,{MD5}\n")[0].native_hash is None


@given(st.lists(st.text(st.sampled_from("aAzß0019- \t\xa0\x7f\x1cK")), max_size=5))
def test_ids_are_folded_together_as_each_alone(ids: list[str]) -> None:
    assert fold_ids(ids) == [fold_id(number) for number in ids]


def test_ids_are_equal_that_differ_in_case_spaces_or_padding_and_no_others() -> None:
    assert len({fold_id(number) for number in ("ABC-001", "abc-1", " Abc-01", "ABC-1\xa0")}) == 1
    assert len({fold_id(number) for number in ("ABC-1", "ABC-10", "ABC1", "ABC-1.0", "A-BC-1", "100", "0")}) == 7


def test_names_are_equal_that_differ_in_order_accents_or_signs() -> None:
    assert len({fold_person(name) for name in ("Müller, Jan", "jan muller", "JAN-MULLER", "Jan  Müller")}) == 1
    assert len({fold_person(name) for name in ("Jan Müller", "Müller Jan", "Jan, ", "李", "李雷", "...", "")}) == 7


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (datetime(1969, 12, 31, 23, 59), CheckCode.DATE_BEFORE_1970),
        (datetime(1970, 1, 1), None),
        (NOW, None),
        (NOW + timedelta(hours=14), None),
        (NOW + timedelta(hours=14, seconds=1), CheckCode.DATE_FUTURE),
    ],
)
def test_dates_have_bounds(value: datetime, code: CheckCode | None) -> None:
    found = check_date(value, NOW, 5, "Date Sent", "D1")
    assert (found and found.code) == code
    assert found is None or (found.line, found.column, found.control_number) == (5, "Date Sent", "D1")
