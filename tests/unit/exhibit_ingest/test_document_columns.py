"""Which columns of documents can be chosen, and how their values are written."""

from __future__ import annotations

from typing import Any

import pytest

from core.contracts.exhibit_lists import ExhibitSummary
from core.contracts.exhibit_queries import ExhibitQuery
from core.exports.columns import COLUMNS, ExportKind
from exhibit_ingest.catalog import columns as catalog
from exhibit_ingest.catalog.columns import Chosen, choose_columns, find_type, needs_details, resolve_properties
from exhibit_ingest.catalog.filters import FILTERS
from exhibit_ingest.catalog.values import format_date
from exhibit_ingest.errors import WrongUsageError


def test_the_columns_and_filters_are_those_of_the_api() -> None:
    assert set(catalog.LISTED) <= set(ExhibitSummary.model_fields)
    exported = {*COLUMNS[ExportKind.DOCUMENTS], catalog.TYPE} - {"date_precision"}
    assert set(catalog.NAMES) == exported
    assert {*catalog.IN_TABLE, *catalog.IN_CSV, *catalog.IN_JSON} <= exported
    assert set(FILTERS.values()) <= {field.alias for field in ExhibitQuery.model_fields.values()}


def test_a_list_needs_no_details_for_the_columns_of_tables_and_json() -> None:
    assert not any(needs_details([Chosen(name)]) for name in (*catalog.IN_TABLE, *catalog.IN_JSON))
    assert needs_details([Chosen("native_path")])
    assert needs_details([Chosen("title", is_property=True)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" Control Number,bates-begin", [("control_number", False), ("bates_begin", False)]),
        ('Author,"To, CC",property:title', [("Author", True), ("To, CC", True), ("title", True)]),
        (None, [("title", False)]),
    ],
)
def test_columns_are_named_freely(text: str | None, expected: list[tuple[str, bool]]) -> None:
    assert choose_columns(text, ["title"]) == [Chosen(*each) for each in expected]


@pytest.mark.parametrize("text", ["title,,tags", "title,Title", ",", "Author,property:Author"])
def test_a_blank_or_repeated_column_is_refused(text: str) -> None:
    with pytest.raises(WrongUsageError, match="--columns"):
        choose_columns(text, ())


def resolve(text: str, *found: str, has_rows: bool = True) -> list[str]:
    return [each.heading for each in resolve_properties(choose_columns(text, ()), found, has_rows=has_rows)]


def test_properties_are_found_by_their_names_or_all_in_their_order() -> None:
    assert resolve("author,title", "Author", "Pages") == ["Author", "title"]
    assert resolve("Pages,properties", "Author", "Pages", "title") == ["Pages", "Author", "title (property)"]
    assert resolve("AUTHOR", "author", "AUTHOR") == ["AUTHOR"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("contrl_number", "Did you mean 'control_number'"),
        ("Authr", "Did you mean 'Author'"),
        ("zzz", "The fields are control_number, "),
        ("property:title", "The fields are"),
    ],
)
def test_an_unknown_column_names_the_nearest(text: str, message: str) -> None:
    with pytest.raises(WrongUsageError, match=message):
        resolve(text, "Author")


def test_without_documents_only_a_name_like_that_of_a_field_is_refused() -> None:
    assert resolve("Author", has_rows=False) == ["Author"]
    with pytest.raises(WrongUsageError, match="bates_begin"):
        resolve("bates_begn", has_rows=False)


@pytest.mark.parametrize(
    ("value", "precision", "expected"),
    [
        ("2019-12-31T00:00:00", "day", "2019-12-31"),
        ("2019-12-31T00:00:00", None, "2019-12-31"),
        ("2019-12-31T00:00:00", "utc_time", "2019-12-31 00:00:00"),
        ("2019-12-31T23:59:01.500000", None, "2019-12-31 23:59:01"),
        ("2019-12-31 23:59:01.000000", "time", "2019-12-31 23:59:01"),
        (None, None, ""),
        ("unknown", None, "unknown"),
    ],
)
def test_a_day_is_written_as_a_day(value: str | None, precision: str | None, expected: str) -> None:
    assert format_date(value, precision) == expected


def test_cells_are_for_people_and_values_for_programs() -> None:
    document: dict[str, Any] = {
        "documentDate": "2019-12-31T00:00:00",
        "datePrecision": {"document_date": "day"},
        "tags": ["Cold", "Hot"],
        "hasNative": False,
        "pageCount": 3,
        "properties": {"Author": "Ann", "title": None},
        "fileName": None,
    }
    for column, cell, value in (
        (Chosen("document_date"), "2019-12-31", "2019-12-31T00:00:00"),
        (Chosen("tags"), "Cold; Hot", ["Cold", "Hot"]),
        (Chosen("has_native"), "no", False),
        (Chosen("page_count"), "3", 3),
        (Chosen("Author", is_property=True), "Ann", "Ann"),
        (Chosen("title", is_property=True), "", None),
        (Chosen("Absent", is_property=True), "", None),
        (Chosen("type"), "", None),
    ):
        assert (column.format_cell(document), column.get_value(document)) == (cell, value)


@pytest.mark.parametrize(
    ("name", "path", "expected"),
    [
        ("a.b.PDF", "N\\1.msg", "pdf"),
        (None, "N.dir\\1.msg", "msg"),
        ("README", "N.dir\\1", None),
        ("a. long extension", None, None),
    ],
)
def test_the_type_is_an_extension(name: str | None, path: str | None, expected: str | None) -> None:
    assert find_type({"fileName": name, "nativePath": path}) == expected
