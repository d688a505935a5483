"""Times of custody, and files with periods."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from exhibit_ingest.custody.period_file import MOST_PERIODS, read_periods
from exhibit_ingest.custody.times import parse_time
from exhibit_ingest.errors import WrongUsageError
from exhibit_ingest.session.output import format_time


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-21T15:00Z", "2026-11-21T15:00:00Z"),
        (" 2026-11-21 16:00+01:00 ", "2026-11-21T15:00:00Z"),
        ("2026-11-21T00:30:00.25-05:00", "2026-11-21T05:30:00.250000Z"),
    ],
)
def test_a_time_is_sent_in_utc(text: str, time: str) -> None:
    assert parse_time(text) == time


def test_a_time_is_shown_as_the_api_has_it_to_the_second() -> None:
    times = ("2026-11-21T15:00:00.123456Z", "2026-11-21T15:00:00Z", None)
    assert [format_time(each) for each in times] == ["2026-11-21T15:00:00Z"] * 2 + [""]


@pytest.mark.parametrize(
    "text", ["", "now", "2026-11-21", "2026-11-21T15:00", "2026-13-01T00:00Z", "0001-01-01T00:00+05:00"]
)
def test_a_time_without_a_zone_or_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="time"):
        parse_time(text)


def test_periods_are_read_in_order_and_each_name_is_looked_up_once(tmp_path: Path) -> None:
    file, names = tmp_path / "periods.csv", []

    def find(name: str) -> int:
        names.append(name)
        return len(names)

    rows = ['7,2026-11-21T15:00Z,2026-11-22T15:00Z,"Lovelace, Ada",taken', '7,2026-11-22T15:00Z,,"Lovelace, Ada",']
    file.write_text("\n".join(["Device, Begin ,end,custodian,NOTE", *rows]), encoding="utf-8-sig")
    assert read_periods(file, find) == [
        {
            "deviceId": 7,
            "begin": "2026-11-21T15:00:00Z",
            "end": "2026-11-22T15:00:00Z",
            "custodianId": 1,
            "note": "taken",
        },
        {"deviceId": 7, "begin": "2026-11-22T15:00:00Z", "end": None, "custodianId": 1, "note": None},
    ]
    assert names == ["Lovelace, Ada"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "needs the columns device and begin"),
        (b"device,end\n1,2026-11-21T15:00Z\n", "needs the columns device and begin"),
        (b"device,begin,color\n", "needs the columns device and begin"),
        (b"device,begin,begin\n", "needs the columns device and begin"),
        (b"device,begin\n", "has 0 periods"),
        (b"device,begin\n" + b"1,2026-11-21T15:00Z\n" * (MOST_PERIODS + 1), "has 1,001 periods"),
        (b"device,begin\n1,2026-11-21T15:00Z\nx,2026-11-21T15:00Z\n", "line 3: 'x' is not the number of a device"),
        (b"device,begin\n1,2026-11-21T15:00Z,more\n", "line 2: more cells than columns"),
        (b"device,begin\n1,\n", "line 2: '' is not a time"),
        (b"device,begin\n\xff,\n", "is not a CSV file in UTF-8"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "periods.csv"
    file.write_bytes(content)
    with pytest.raises(WrongUsageError, match=message):
        read_periods(file, len)
