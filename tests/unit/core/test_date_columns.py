"""The dates of a row: with their times, in their zones, as precise as they are written."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from core.dates.written_dates import DateOrder, read_date
from core.exhibit_dates import DATE_FIELDS, Precision, change_precisions, describe_precisions, format_date
from core.imports.columns.report import describe_columns
from core.imports.report_files import build_reload_options
from core.load_file.date_columns import read_date_value
from core.load_file.layout import DateColumn, Layout
from core.load_file.rows import Row, parse_row
from core.load_file.split_state import SplitState
from core.time_zones import get_database_version
from tests.unit.core.file_reading import read_file

NEW_YORK = "America/New_York"
# The date cell, the time cell, the zone; the value, the precision and the warning.
TIMESTAMPS: list[tuple[str, str, str | None, datetime | None, str, str | None]] = [
    ("5/6/2020", "", None, datetime(2020, 5, 6), "D", None),
    ("5/6/2020", "", "Pacific/Kiritimati", datetime(2020, 5, 6), "D", None),
    ("20200506", "  ", NEW_YORK, datetime(2020, 5, 6), "D", None),
    ("5/6/2020", "2:30 PM", None, datetime(2020, 5, 6, 14, 30), "T", None),
    ("5/6/2020", "2:30 PM", NEW_YORK, datetime(2020, 5, 6, 18, 30), "U", None),
    ("1/6/2020", "14:30:15.5", NEW_YORK, datetime(2020, 1, 6, 19, 30, 15, 500_000), "U", None),
    ("20200506", "23:00", NEW_YORK, datetime(2020, 5, 7, 3), "U", None),
    ("5/6/2020", "00:00", NEW_YORK, datetime(2020, 5, 6, 4), "U", None),
    # An offset says more than the zone of the file.
    ("5/6/2020", "14:30 +02:00", NEW_YORK, datetime(2020, 5, 6, 12, 30), "U", None),
    ("2020-05-06T14:30:00Z", "", NEW_YORK, datetime(2020, 5, 6, 14, 30), "U", None),
    # A date cell's own time is taken, but for a midnight.
    ("5/6/2020 9:15", "14:30", None, datetime(2020, 5, 6, 9, 15), "T", None),
    ("5/6/2020 12:00 AM", "14:30", None, datetime(2020, 5, 6, 14, 30), "T", None),
    ("5/6/2020 12:00 AM", "", NEW_YORK, datetime(2020, 5, 6), "D", None),
    ("5/6/2020 12:00 AM", "afternoon", NEW_YORK, datetime(2020, 5, 6), "D", "INVALID_TIME"),
    ("2020-05-06T00:00:00-04:00", "", NEW_YORK, datetime(2020, 5, 6, 4), "U", None),
    ("2020-05-06T00:00:00Z", "14:30", None, datetime(2020, 5, 6), "U", None),
    # Set back at 02:00 on 1 November, and set forward at 02:00 on 8 March.
    ("11/1/2020", "1:30", NEW_YORK, datetime(2020, 11, 1, 5, 30), "U", "AMBIGUOUS_TIME"),
    ("11/1/2020", "1:30 -0500", NEW_YORK, datetime(2020, 11, 1, 6, 30), "U", None),
    ("11/1/2020 2:00", "", NEW_YORK, datetime(2020, 11, 1, 7), "U", None),
    ("3/8/2020 2:30", "", NEW_YORK, datetime(2020, 3, 8, 7, 30), "U", "NONEXISTENT_TIME"),
    ("3/8/2020 3:00", "", NEW_YORK, datetime(2020, 3, 8, 7), "U", None),
    ("4/5/2020 1:45", "", "Australia/Lord_Howe", datetime(2020, 4, 4, 14, 45), "U", "AMBIGUOUS_TIME"),
    ("11/1/2020", "", NEW_YORK, datetime(2020, 11, 1), "D", None),
    # What is not a date or a time.
    ("31/31/2020", "14:30", NEW_YORK, None, "-", "INVALID_DATE"),
    ("5/6/2020", "afternoon", NEW_YORK, datetime(2020, 5, 6), "D", "INVALID_TIME"),
    ("5/6/2020", "5/6/2020 14:30", NEW_YORK, datetime(2020, 5, 6), "D", "INVALID_TIME"),
    ("", "14:30", NEW_YORK, None, "-", None),
    ("00/00/0000", "00:00", NEW_YORK, None, "-", None),
    ("12/31/9999 23:00", "", NEW_YORK, None, "-", "INVALID_DATE"),
    ("1/1/1000 1:00", "", "Asia/Tokyo", None, "-", "INVALID_DATE"),
    ("1/1/1000", "1:00 +02:00", None, None, "-", "INVALID_DATE"),
]


@pytest.mark.parametrize(("text", "time", "zone", "value", "precision", "code"), TIMESTAMPS)
def test_a_date_and_its_time_are_one_timestamp_as_precise_as_they_are_written(
    text: str, time: str, zone: str | None, value: datetime | None, precision: str, code: str | None
) -> None:
    found = read_date_value(DateColumn("date_sent", 3, "MDY", zone, 4), text, time)
    assert (found.value, found.precision) == (value, precision)
    assert (found.problem and found.problem.code) == code
    assert found.problem is None or found.problem.column == (4 if code == "INVALID_TIME" else 3)


@pytest.mark.parametrize(("text", "time", "zone", "value", "precision", "code"), TIMESTAMPS)
def test_what_a_production_writes_is_read_as_the_same_date(
    text: str, time: str, zone: str | None, value: datetime | None, precision: str, code: str | None
) -> None:
    written = format_date(value, f"-{precision}---", "date_sent")
    if value is None:
        assert written == ""
    else:
        again = read_date_value(DateColumn("date_sent", 3, "MDY"), written, "")
        assert (again.value, again.precision, read_date(written, "DMY")) == (
            value,
            precision,
            read_date(written, "MDY"),
        )


def rows(text: str, **options: Any) -> tuple[list[Row], Layout]:
    reading = read_file(text.encode(), options)
    return [parse_row(record, reading.layout) for record in reading.records], reading.layout


DATED = """DOCID,Date Modified,Sent Time,Date Sent,Date Received (UTC)
1,2/1/2020,14:30,5/21/2020,21/5/2020 10:00
2,2/1/2020,,,21/5/2020 10:00
3,13/1/2020,,,
4,,,,
"""


def test_without_its_own_column_the_document_date_is_the_first_of_the_others_in_the_row() -> None:
    found, layout = rows(DATED, time_zone=NEW_YORK)
    sent, received = datetime(2020, 5, 21, 18, 30), datetime(2020, 5, 21, 10)
    assert [row.dates.values for row in found] == [
        (sent, sent, received, None, datetime(2020, 1, 2)),
        (received, None, received, None, datetime(2020, 1, 2)),
        (datetime(2020, 1, 13), None, None, None, datetime(2020, 1, 13)),
        (None,) * 5,
    ]
    assert [row.dates.source for row in found] == ["date_sent", "date_received", "date_modified", None]
    assert [row.dates.precisions for row in found] == ["UUU-D", "U-U-D", "D---D", None]
    assert found[0].properties["Sent Time"] == "14:30"
    assert layout.time_zone_version == get_database_version()


def test_a_document_date_of_its_own_is_not_replaced_where_it_is_blank() -> None:
    (row,), _ = rows("DOCID,Doc Date,Doc Time,Date Sent\n1,,14:30,5/21/2020\n")
    assert (row.dates.values[:2], row.dates.source) == ((None, datetime(2020, 5, 21)), None)


def test_each_column_has_its_own_order_which_the_rejected_rows_keep() -> None:
    text = "DOCID,Date Sent,Date Received,Date Created\n1,5/21/2020,21/5/2020,1/2/2020\n"
    _, layout = rows(text)
    assert [column.order for column in layout.date_columns] == ["MDY", "DMY", "MDY"]
    options = build_reload_options(layout)
    assert options["date_order"] == {"date_sent": "MDY", "date_received": "DMY", "date_created": "MDY"}
    again, reloaded = rows("DOCID,Date Sent,Date Received,Date Created\n2,1/2/2020,1/2/2020,1/2/2020\n", **options)
    assert [value and value.month for value in again[0].dates.values] == [1, 1, 2, 1, None]
    assert reloaded.date_columns == layout.date_columns
    reading = read_file(text.encode(), {"date_order": {"date_created": "DMY"}})
    assert reading.layout.date_orders == {"date_received": "DMY", "date_created": "DMY"}
    assert reading.splitter.date_orders["date_created"] is DateOrder.AMBIGUOUS


def test_the_report_says_how_dates_are_read_and_the_reload_options_repeat_it() -> None:
    _, layout = rows(DATED, time_zone=NEW_YORK)
    assert build_reload_options(layout)["time_zone"] == NEW_YORK
    assert [
        (each.field, each.date_order, each.time_zone, each.time_zone_version, each.time_column)
        for each in describe_columns(Layout.from_json(layout.to_json()))
    ] == [
        ("control_number", None, None, None, None),
        ("date_modified", "DMY", NEW_YORK, get_database_version(), None),
        ("time_sent", None, None, None, None),
        ("date_sent", "MDY", NEW_YORK, get_database_version(), "Sent Time"),
        ("date_received", "DMY", "UTC", get_database_version(), None),
    ]


def test_a_layout_and_a_checkpoint_of_an_earlier_version_are_read_as_it_read_them() -> None:
    reading = read_file(b"DOCID,Date Sent,Date Received\n1,5/21/2020,x\n", {"columns": {"2": "document_date"}})
    values = json.loads(reading.layout.to_json())
    earlier = {
        name: values[name] for name in values if "time" not in name and name not in ("date_orders", "hashed_date")
    }
    layout = Layout.from_json(json.dumps(earlier | {"fields": ["control_number", "document_date", None]}))
    row = parse_row(reading.records[0], layout)
    assert (row.dates.values, row.dates.precisions, layout.first_date) == (
        (datetime(2020, 5, 21), *[None] * 4),
        "D----",
        1,
    )
    assert not layout.was_hashed_otherwise
    state = reading.splitter.export_state()
    assert state is not None
    stored = json.loads(json.dumps(state.to_dict()))
    for prefixes in (["5/21/2020"], []):
        assert SplitState.from_dict(stored | {"date_prefixes": prefixes}).date_prefixes == [prefixes]
    assert SplitState.from_dict(stored) == state


def test_a_client_changes_the_precision_of_its_dates_alone() -> None:
    letters = change_precisions("UD--T", {"date_sent": Precision.TIME, "date_modified": Precision.NONE})
    assert letters == "UT---"
    assert describe_precisions(letters) == {"document_date": "utc_time", "date_sent": "time"}
    assert change_precisions("U----", {"document_date": Precision.NONE}) is None
    assert change_precisions(None, {DATE_FIELDS[-1]: Precision.TIME}) == "----T"
