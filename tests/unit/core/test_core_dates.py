"""A text gives a date only if it names exactly one; what order day and month stand in is decided for a column."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dates.written_dates import (
    DATE_PREFIX_CHARACTERS,
    DateOrder,
    detect_date_order,
    is_zero_date,
    match_date_patterns,
    parse_date,
    read_date,
)
from tests.unit.core.file_reading import read_file

DATES: list[tuple[str, str, datetime | None]] = [
    ("5/21/2001 3:48 PM", "MDY", datetime(2001, 5, 21, 15, 48)),
    ("5/03/2004 1:28 PM", "MDY", datetime(2004, 5, 3, 13, 28)),
    ("5/03/2004 1:28 PM", "DMY", datetime(2004, 3, 5, 13, 28)),
    ("01/15/2024", "MDY", datetime(2024, 1, 15)),
    ("15.01.2024", "DMY", datetime(2024, 1, 15)),
    ("15-1-2024", "DMY", datetime(2024, 1, 15)),
    ("2024-10-23", "MDY", datetime(2024, 10, 23)),
    ("2024-10-23", "DMY", datetime(2024, 10, 23)),
    ("2024/1/3", "DMY", datetime(2024, 1, 3)),
    ("2024-12-10 00:00:00", "MDY", datetime(2024, 12, 10)),
    ("2002-01-09T22:52:36Z", "MDY", datetime(2002, 1, 9, 22, 52, 36)),
    ("2002-01-09T22:52:36.25Z", "MDY", datetime(2002, 1, 9, 22, 52, 36, 250_000)),
    ("2002-01-09T22:52:36.1234567", "MDY", datetime(2002, 1, 9, 22, 52, 36, 123_456)),
    ("2002-01-09T22:52:36-04:00", "MDY", datetime(2002, 1, 10, 2, 52, 36)),
    ("2002-01-09 22:52 -0400", "MDY", datetime(2002, 1, 10, 2, 52)),
    ("2002-01-09 01:30 +0530", "MDY", datetime(2002, 1, 8, 20, 0)),
    ("2002-01-09 01:30 UTC", "MDY", datetime(2002, 1, 9, 1, 30)),
    ("20020109", "MDY", datetime(2002, 1, 9)),
    ("20020109", "DMY", datetime(2002, 1, 9)),
    ("12312008", "MDY", datetime(2008, 12, 31)),
    ("31122008", "DMY", datetime(2008, 12, 31)),
    ("Friday, 10 December 1999 at 23:38:00 Greenwich Mean Time", "MDY", datetime(1999, 12, 10, 23, 38)),
    ("Fri, 10 Dec 1999 23:38:00 GMT", "MDY", datetime(1999, 12, 10, 23, 38)),
    ("10 Dec 1999", "MDY", datetime(1999, 12, 10)),
    ("10-Dec-1999", "MDY", datetime(1999, 12, 10)),
    ("Sept. 3, 1999", "MDY", datetime(1999, 9, 3)),
    ("Thursday, September 9, 1999 9:09 a.m.", "MDY", datetime(1999, 9, 9, 9, 9)),
    ("THU MAY 3 2001", "MDY", datetime(2001, 5, 3)),
    ("  2024-10-23\t", "MDY", datetime(2024, 10, 23)),
    ("5/21/2001 12:00 AM", "MDY", datetime(2001, 5, 21)),
    ("5/21/2001 12:00 PM", "MDY", datetime(2001, 5, 21, 12)),
    ("2/29/2024", "MDY", datetime(2024, 2, 29)),
    ("1000-01-01", "MDY", datetime(1000, 1, 1)),
    ("9999-12-31 23:59:59", "MDY", datetime(9999, 12, 31, 23, 59, 59)),
    # A day that only the other order has.
    *(("21/5/2001", "MDY", None), ("5/21/2001", "DMY", None)),
]
NO_DATES = [
    *("", " ", "unknown", "circa May", "May 2001", "2001", "5/2001", "1/2", "5/21/01", "01-02-03", "10 Dec 99"),
    *("13/21/2001", "02/30/2024", "2/29/2023", "0/5/2001", "5/0/2001", "2024-13-01", "20241301", "99999999", "2024-1"),
    *("0999-12-31", "12/31/0999", "0000-00-00", "00/00/0000", "0/0/00", "00000000", "2024-10-23 25:00"),
    *("2024-10-23 10:60", "5/21/2001 13:00 PM", "5/21/2001 0:30 AM", "2024-10-23 10", "2024-10-23 x", "x 2024-10-23"),
    *("5/21/2001 - 5/22/2001", "2024-10-23; 2024-10-24", "2024-10-23 10:00 +9999", "2024-10-23 10:00 EST"),
    *("before 10 May 2001", "circa 10 May 2001", "not May 10, 2001", "10 Mayday 2001", "10 Ma 2001", "120241023"),
    *("1000-01-01 00:00 +01:00", "9999-12-31 23:30 -01:00", "5/21/20011", "555/1/2001", "5//21/2001"),
]


@pytest.mark.parametrize(("text", "order", "expected"), DATES)
def test_a_date_is_read_as_files_write_it(text: str, order: str, expected: datetime | None) -> None:
    assert parse_date(text, order) == expected


@pytest.mark.parametrize("order", ["MDY", "DMY"])
def test_what_names_no_single_date_gives_none(order: str) -> None:
    assert {text: found for text in NO_DATES if (found := parse_date(text, order))} == {}


ZEROS = (
    *("00/00/0000", "0/0/00", "00000000", "0000-00-00", "00/00/0000 00:00:00", "0.0.0", "0"),
    *("00/00/0000 12:00:00 AM", "0/0/0000 12:00 a.m.", "0000-00-00T00:00:00.000Z"),
)
OTHERS = ("", "00", "01/00/0000", "00/00/2001", "10/10/2000", "00/00/0000 12:00 PM", "0 12:00 AM")


@pytest.mark.parametrize(("text", "is_zero"), [*((text, True) for text in ZEROS), *((text, False) for text in OTHERS)])
def test_zero_dates_are_blanks_and_not_mistakes(text: str, is_zero: bool) -> None:
    assert is_zero_date(text) == is_zero
    assert not is_zero or parse_date(text, "MDY") is None


FORMS: list[tuple[str, Callable[[datetime], str]]] = [
    ("MDY", lambda timestamp: f"{timestamp:%Y-%m-%d %H:%M:%S}"),
    ("DMY", lambda timestamp: f"{timestamp:%Y-%m-%dT%H:%M:%S.%f}Z"),
    ("MDY", lambda timestamp: f"{timestamp:%Y%m%d}"),
    ("MDY", lambda timestamp: f"{timestamp.month}/{timestamp.day}/{timestamp.year}"),
    ("DMY", lambda timestamp: f"{timestamp:%d.%m.%Y}"),
    ("MDY", lambda timestamp: f"{timestamp:%m/%d/%Y %I:%M %p}"),
    (
        "DMY",
        lambda timestamp: f"{timestamp.day}/{timestamp.month}/{timestamp.year} {timestamp.hour}:{timestamp.minute:02d}",
    ),
    ("MDY", lambda timestamp: f"{timestamp:%A, %d %B %Y at %H:%M:%S} Greenwich Mean Time"),
    ("DMY", lambda timestamp: f"{timestamp:%a, %d %b %Y %H:%M:%S} +0000"),
    ("DMY", lambda timestamp: f"{timestamp:%B %d, %Y %I:%M:%S %p}"),
]


@given(st.datetimes(min_value=datetime(1000, 1, 1)))
def test_every_timestamp_is_read_back_in_every_form(timestamp: datetime) -> None:
    for order, write in FORMS:
        found = parse_date(write(timestamp), order)
        assert found is not None
        assert write(found) == write(timestamp)


@given(st.datetimes(datetime(1001, 1, 1), datetime(9998, 12, 31)), st.integers(-12 * 4, 14 * 4))
def test_an_offset_is_taken_off(timestamp: datetime, quarters: int) -> None:
    local = timestamp.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=15 * quarters)))
    expected = local.astimezone(UTC).replace(tzinfo=None)
    assert parse_date(local.isoformat(), "MDY") == expected
    assert parse_date(local.strftime("%Y-%m-%d %H:%M:%S %z"), "MDY") == expected


@given(st.text(alphabet="0123456789/-.: APMTZ+janvier", max_size=25), st.sampled_from(["MDY", "DMY"]))
def test_no_text_makes_it_fail_or_gives_a_date_that_mysql_lacks(text: str, order: str) -> None:
    found = parse_date(text, order)
    assert found is None or (found.tzinfo is None and 1000 <= found.year <= 9999)


ORDERS = [
    (["5/21/2001", "5/6/2001"], DateOrder.MONTH_FIRST),
    (["21/5/2001", "5/6/2001"], DateOrder.DAY_FIRST),
    (["5/6/2001", "7/8/2001"], DateOrder.AMBIGUOUS),
    (["5/21/2001", "21/5/2001"], DateOrder.MIXED),
    (["05/21/2001"], DateOrder.MONTH_FIRST),
    (["21/05/2001"], DateOrder.DAY_FIRST),
    (["21.05.2001", "2001-05-21"], DateOrder.DAY_FIRST),
    (["05/06/2001"], DateOrder.AMBIGUOUS),
    (["13/21/2001", "5/21/2001"], DateOrder.MONTH_FIRST),
    (["45/1/2001", "0/0/0000"], None),
    (["00/00/0000", "2001-05-21"], None),
    (["2001-05-21", "20010521", "10 Dec 1999", ""], None),
    (["31122008", "05062008"], DateOrder.DAY_FIRST),
    (["12312008 ", "05062008"], DateOrder.MONTH_FIRST),
    (["31122008", "12/31/2008"], DateOrder.MIXED),
    (["05062008", "20080506", ""], DateOrder.MIXED),
    (["05062008", "00000000"], DateOrder.AMBIGUOUS),
    (["20080506", "21/5/2001"], DateOrder.DAY_FIRST),
    (["20080506", "20081306", "20080230", "99999999", "311220081"], None),
    ([], None),
]


@pytest.mark.parametrize(("cells", "expected"), ORDERS)
def test_the_order_is_what_all_cells_agree_on(cells: list[str], expected: DateOrder | None) -> None:
    beginnings = [cell[:DATE_PREFIX_CHARACTERS] for cell in cells]
    for arranged in permutations(beginnings):
        assert detect_date_order(arranged) is expected


@pytest.mark.parametrize("first", ["21/05/2001", "05/21/2001", "21.5.2001", "31122008", " 12312008\t"])
def test_one_date_settles_the_order_of_a_file(first: str) -> None:
    order = "DMY" if first[0] in "23" else "MDY"
    reading = read_file(f"DOCID,DocDate\n1,{first}\n2,05/06/2001\n".encode())
    assert reading.layout.date_order == order


def test_an_order_that_was_given_wins_and_has_the_name_that_parsing_takes() -> None:
    assert read_file(b"DOCID,DocDate\n1,05/21/2001\n", {"date_order": "DMY"}).layout.date_order == "DMY"
    assert {order.order for order in DateOrder} == {"MDY", "DMY"}
    assert DateOrder.AMBIGUOUS.order == DateOrder.MIXED.order == "MDY"


SMALL = st.integers(0, 61).flatmap(lambda number: st.sampled_from([f"{number}", f"{number:02d}"]))
YEARS = st.sampled_from(["0999", "1000", "2001", "2024", "9999", "99", "20245"])
MARKS = st.sampled_from(["/", "-", ".", "//"])
CLOCKS = st.builds(lambda *parts: "".join(parts), SMALL, st.just(":"), SMALL, st.sampled_from(["", ":5", ":59", ":60"]))
HALVES = st.sampled_from(["", " AM", " pm", " P.M.", "PM", " Z"])
WRITTEN = st.tuples(SMALL, MARKS, SMALL, MARKS, YEARS, st.just("") | CLOCKS.map(" {}".format), HALVES).map("".join)


@given(WRITTEN, st.sampled_from(["MDY", "DMY"]))
def test_a_date_in_numbers_is_what_the_forms_make_of_it(text: str, order: str) -> None:
    assert read_date(text, order) == match_date_patterns(text, order)


def test_so_is_every_day_every_time_and_every_date_above() -> None:
    days = [f"{first}/{second}/2024" for first, second in product(range(33), repeat=2)]
    times = [f"1/2/2024 {hour}:00{half}" for hour, half in product(range(26), ("", " AM", " PM", ":59 pm"))]
    times += [f"1/2/2024 1:{minute:02}:{minute:02}" for minute in range(62)]
    for text in (*days, *times, *(text for text, _, _ in DATES), *NO_DATES):
        for order in ("MDY", "DMY"):
            assert read_date(text, order) == match_date_patterns(text.strip(), order), text
