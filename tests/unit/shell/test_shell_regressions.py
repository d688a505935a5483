"""Faults that were there once: properties dropped one by one, options of a corrections file for other columns."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from typing import Any

import pytest

from core.codes import WarningCode
from core.imports.report_files import build_reload_options
from core.load_file.dialect import read_opening
from core.load_file.layout import Layout
from core.load_file.options import ImportOptions, parse_options
from core.load_file.splitter import Splitter
from shell.db.column_limits import ColumnLimit
from shell.utils.data_sanitizer import utf8_length
from shell.utils.document_properties import (
    TEXT_COLUMN_BYTES,
    Properties,
    coerce_properties,
    parse_properties,
    serialize_properties,
)

COLUMN = ColumnLimit(None, TEXT_COLUMN_BYTES, "utf8mb4", "utf8mb4_general_ci")
FILLINGS = ["x", "é", "'", '"', "\\", "\n", "\u2028", "x'\"\\é "]


def dropped_of(properties: Properties) -> tuple[dict[str, str | None], list[str]]:
    """What is stored of the properties, and the names of those that were dropped, in the order of the account."""
    stored, changes = coerce_properties(properties, COLUMN)
    assert stored is not None
    assert utf8_length(stored) <= TEXT_COLUMN_BYTES
    assert {change.code for change in changes} <= {WarningCode.PROPERTY_DROPPED}
    return parse_properties(stored), [change.name for change in changes]


def test_five_thousand_entries_that_do_not_fit_take_no_time() -> None:
    properties = {f"column {number:04}": "x" * 400 for number in range(5_000)}
    started = time.process_time()
    kept, dropped = dropped_of(properties)
    assert time.process_time() - started < 2
    assert len(kept) + len(dropped) == 5_000
    assert dropped == sorted(properties, reverse=True)[: len(dropped)]


@pytest.mark.parametrize("filling", FILLINGS, ids=ascii)
@pytest.mark.parametrize("count", [10, 300])
def test_no_entry_is_dropped_that_would_have_fitted(filling: str, count: int) -> None:
    properties = {f"column {number:04}": filling * (2 * TEXT_COLUMN_BYTES // count) for number in range(count)}
    kept, dropped = dropped_of(properties)
    last = dropped[-1]
    with_it = {name: value for name, value in properties.items() if name in kept or name == last}
    assert len(kept) == count - len(dropped)
    assert utf8_length(serialize_properties(with_it)) > TEXT_COLUMN_BYTES


def test_the_largest_entries_are_dropped_first_and_of_equal_ones_the_last_by_name() -> None:
    sizes = {"b": 20_000, "small": 100, "a": 20_000, "c": 20_000, "largest": 30_000, "empty": 0}
    kept, dropped = dropped_of({name: "x" * size for name, size in sizes.items()})
    assert dropped == ["largest"]
    assert kept == {name: "x" * size for name, size in sizes.items() if name not in dropped}
    kept, dropped = dropped_of({**{name: "x" * size for name, size in sizes.items()}, "d": "x" * 20_000})
    assert dropped == ["largest", "d"]


def test_what_is_left_is_json() -> None:
    properties = {f"é '{number}\"": 'it\'s "so"\\\n é' * 100 for number in range(200)} | {"none": None}
    stored, changes = coerce_properties(properties, COLUMN)
    read = json.loads(stored or "")
    gone = {change.name for change in changes}
    assert gone
    assert read == {name: value for name, value in properties.items() if name not in gone}


def layout_of(data: bytes, options: dict[str, Any] | None = None) -> Layout:
    """How a file is read."""
    given = parse_options(options or {})
    splitter = Splitter(read_opening(data, given, whole=True), 1000)
    for _ in (*splitter.feed(data), *splitter.finish()):
        pass
    return splitter.build_layout(given.date_order)


def fields_again(rows: Iterable[bytes], layout: Layout) -> tuple[ImportOptions, tuple[str | None, ...]]:
    """The options to load rows of a file again, and the fields that its columns have then."""
    options = parse_options(json.loads(json.dumps(build_reload_options(layout))))
    return options, read_opening(b"".join(rows), options, whole=True).fields


def test_a_column_that_is_called_3_but_stands_first_keeps_its_field() -> None:
    header, row = b"3,1,2,Title\n", b"A-1,Smith,2,one\n"
    layout = layout_of(header + row, {"columns": {"3": "control_number", "1": "custodians"}})
    assert layout.fields == ("control_number", "custodians", None, "title")
    options, fields = fields_again([header, row], layout)
    assert options.columns == {"3": "control_number", "1": "custodians", "Title": "title"}
    assert fields == layout.fields


def test_rows_of_a_file_without_a_header_keep_their_fields_by_place() -> None:
    rows = [b"Smith,A-1,one\n", b"Jones,A-2,two\n"]
    given = {"header": False, "columns": {"2": "control_number", "1": "custodians"}}
    layout = layout_of(b"".join(rows), given)
    options, fields = fields_again(rows[1:], layout)
    assert options.header is False
    assert options.columns == {"2": "control_number", "1": "custodians"}
    assert fields == layout.fields == ("custodians", "control_number", None)


def test_a_file_without_a_qualifier_is_read_without_one_again() -> None:
    data = b"Control Number|Title\nA-1|it's \"one\n"
    layout = layout_of(data, {"qualifier": "none", "date_order": "DMY"})
    options, fields = fields_again([data], layout)
    assert (options.qualifier, options.delimiter, options.date_order) == ("", "|", "DMY")
    assert fields == layout.fields
