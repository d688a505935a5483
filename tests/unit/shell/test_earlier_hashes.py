"""Rows of files that versions with one date imported are found unchanged: the hashes are those of that code."""

from __future__ import annotations

from typing import Any

import pytest

from core.exhibit_fields import KEYS, TEXTS
from core.load_file.rows import parse_row
from shell.db.column_limits import ColumnLimit
from shell.imports.rows.coercion import RowCoercer, StorableRow
from shell.imports.rows.columnar_rows import columnar_rows
from tests.unit.core.file_reading import read_file

WIDE = ColumnLimit(255, None, "utf8mb4", "utf8mb4_bin")
LIMITS = {**dict.fromkeys((*KEYS, *TEXTS), WIDE), "document_properties": ColumnLimit(None, 65_535, "utf8mb4", "")}
WITH_LATER_TEXT = "DOCID,Title,Conf Designation,Date Sent,Note\n1,a,Confidential,1/2/2003,x\n2,,AEO ,,\n3,b,,,y\n"
# The first eight bytes of the row hashes, computed by the version before the dates of events.
FROZEN: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "DOCID,Title,Date\n1,a,1/2/2003 4:05 PM\n2,,2003-02-01T00:30:00-05:00\n3,b,\n",
        {},
        ["fba6d874307f18f4", "702f707364631e4a", "6a31b098137ed174"],
    ),
    (
        "DOCID,Date Sent,DATERCVD,Date Created\n1,5/21/2001,21/6/2001,\n2,,22/6/2001 10:00,1/2/2003\n3,no date,,\n",
        {},
        ["30a1bab23e7197ab", "9a048126b7aa5c57", "82f7f2782be74bc3"],
    ),
    (
        "DOCID,Item Date,Date Sent,Time Sent\n1,2001-05-20,21/05/2001,14:30\n2,,05/06/2001 00:00,2 PM\n",
        {},
        ["1c53da0dae670d57", "02206b17eb162da7"],
    ),
    ("þDOCIDþ\x14þSENTDATEþ\x14þDATERCVDþ\nþ1þ\x14þ2001-05-20®þ\x14þ2001-05-21®þ\n", {}, ["c86a5b21d86a4f30"]),
    ("DOCID,Start Date,Date Created,Date Modified\n1,1/2/2003,3/4/2003,5/6/2003\n", {}, ["9b4645d355fb0245"]),
    (
        "DOCID,Date Sent,Date Received\n1,1/2/2003,3/4/2003\n",
        {"columns": {"Date Received": "document_date"}, "date_order": "DMY"},
        ["34d8cf6130e84041"],
    ),
    ("DOCID,Doc Date,Doc Time\n1,1/2/2003,3:04 PM\n", {}, ["04462e9fa9ece7da"]),
    ("DOCID,Sent,Note\n1,1/2/2003,x\n", {}, ["7d561cc1a223246d"]),
    (WITH_LATER_TEXT, {}, ["31a53a3594f0989a", "d0946af446e2850c", "46aed62c5d609571"]),
    ("þDOCIDþ\x14þConfidentialityþ\nþ1þ\x14þa®bþ\n", {}, ["01015650014b2be9"]),
    ("DOCID,Level,Date\n1,Confidential,1/2/2003\n", {"columns": {"Level": "confidentiality"}}, ["8e3831256ae3251b"]),
]


def coerce(text: str, options: dict[str, Any]) -> list[StorableRow]:
    reading = read_file(text.encode(), options)
    coercer = RowCoercer(reading.layout, 7, 8, LIMITS, {"custodians": {"name": WIDE}, "tags": {"name": WIDE}})
    rows = [coercer.coerce(parse_row(record, reading.layout)) for record in reading.records]
    regular, _ = columnar_rows(reading.records, coercer)
    hashes = {
        row.source.line_no: (row.row_hash, row.earlier_hashes)
        for row in regular.build_rows(with_values=True, with_properties=True)
    }
    assert hashes.items() <= {row.source.line_no: (row.row_hash, row.earlier_hashes) for row in rows}.items()
    return rows


def _earliest(row: StorableRow) -> bytes:
    return (row.row_hash, *row.earlier_hashes)[-1]


@pytest.mark.parametrize(("text", "options", "frozen"), FROZEN)
def test_a_row_of_an_earlier_version_is_unchanged(text: str, options: dict[str, Any], frozen: list[str]) -> None:
    rows = coerce(text, options)
    assert [_earliest(row).hex()[:16] for row in rows] == frozen
    assert all(row.is_equal(_earliest(row)) for row in rows)


@pytest.mark.parametrize(
    ("text", "options", "other"),
    [
        # The order of a date that was not the document date, the time that completes a day, the zone of a time.
        ("DOCID,Date Sent,Date Created\n1,2001-05-06,1/2/2003\n", {}, {"date_order": "DMY"}),
        ("DOCID,Date Sent,Clock\n1,2001-05-06,14:30\n", {}, {"columns": {"Clock": "time_sent"}}),
        ("DOCID,Date\n1,2001-05-06 14:30\n", {}, {"time_zone": "America/New_York"}),
        ("DOCID,Date Sent\n1,2001-05-06 14:30\n", {"time_zone": "Asia/Tokyo"}, {"time_zone": "America/New_York"}),
    ],
)
def test_a_row_whose_dates_are_read_otherwise_differs(
    text: str, options: dict[str, Any], other: dict[str, Any]
) -> None:
    (first,), (second,) = coerce(text, options), coerce(text, other)
    assert first.row_hash != second.row_hash
    assert not second.is_equal(first.row_hash)


def test_a_row_has_a_hash_of_each_version_that_stored_it_otherwise() -> None:
    rows = coerce(WITH_LATER_TEXT, {})
    between = ["5fd471adbe5cf21c", "938e709d44a9a93c", "8c4dd6591819a4e1"]
    # Those of the version with the dates of events.
    assert [row.earlier_hashes[0].hex()[:16] for row in rows] == between
    assert [row.row_hash == row.earlier_hashes[0] for row in rows] == [False, False, True]


def test_a_row_that_an_earlier_version_stored_has_no_zone() -> None:
    text = "DOCID,Date Sent\n1,2001-05-06 14:30\n"
    (plain,), (zoned,) = coerce(text, {}), coerce(text, {"time_zone": "America/New_York"})
    assert plain.is_equal(_earliest(plain))
    assert not zoned.is_equal(_earliest(plain))
    assert not plain.is_equal(None)
