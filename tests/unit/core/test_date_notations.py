"""Dates in notations that earlier versions did not read, and in formats that the uploader states."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.dates.formats import explain_bad_format, parse_date_formats, read_format
from core.dates.notations import read_notation
from core.dates.words import DateNote
from core.dates.written_dates import read_date
from core.errors import FileRefusedError
from core.load_file.date_columns import DateValue, read_date_value
from core.load_file.layout import DateColumn

MAY = datetime(2001, 5, 21, 15)
READ = {
    "05/21/01 3:00 PM": (MAY, None),
    "21-May-01": (datetime(2001, 5, 21), None),
    "12/31/99": (datetime(1999, 12, 31), None),
    "1/1/49": (datetime(2049, 1, 1), None),
    "1/1/50": (datetime(1950, 1, 1), None),
    "20010521 15:00": (MAY, None),
    "20010521150000": (MAY, None),
    "20010521T150000Z": (MAY, 0),
    "5/21/2001 3:00 PM EST": (MAY, -5),
    "5/21/2001 3:00 PM EDT": (MAY, -4),
    "5/21/2001 3:00:00 PM (GMT-05:00)": (MAY, -5),
    "5/21/2001 3:00 PM (GMT+01:00) Berlin, Rome": (MAY, 1),
    "Mon, 21 May 2001 15:00:00 -0500 (EST)": (MAY, -5),
    "Mon, 21 May 2001 15:00:00 +0100 (EST)": (MAY, 1),
    "Mon May 21 2001 15:00:00 GMT-0500 (Eastern Standard Time)": (MAY, -5),
    "Mon May 21 15:00:00 PDT 2001": (MAY, -7),
    "5/21/2001, 3:00 PM": (MAY, None),
}
# Not one date: a month, a number, an unknown zone, a zone without a time, a comment that says nothing, no year.
UNREAD = (
    *("May 2001", "37032", "2001-05-21 15:00 XST", "5/21/2001 EST", "5/21/2001 3:00 PM (approx.)", "21 May 15:00"),
    *("20013101 15:00", "99/12/31", "5/21/1", "1.2.3", "17990521150000", "5/21/2001 (GMT-05:00)", "", "()", "EST"),
)


@pytest.mark.parametrize("text", READ)
def test_a_notation_is_one_date(text: str) -> None:
    local, hours = READ[text]
    found = read_notation(text, "MDY")
    assert found is not None
    assert (found.date.local, found.date.offset) == (local, None if hours is None else timedelta(hours=hours))
    assert read_date(text, "MDY") is None, "earlier versions did not read it"
    column = DateColumn("date_sent", 0, "MDY", rules=2)
    value = read_date_value(column, text, "")
    assert (value.value, value.before, value.problem) == (local - timedelta(hours=hours or 0), (None,), None)
    assert (value.note is DateNote.SHORT_YEAR) == ("2001" not in text)


@pytest.mark.parametrize("text", UNREAD)
def test_what_is_not_one_date_is_none(text: str) -> None:
    assert [read_notation(text, order) for order in ("MDY", "DMY")] == [None, None]


@pytest.mark.parametrize(
    ("text", "advice"),
    [("May 2001", "add the day"), ("37032", '"excel"'), ("21 mai 2001", "'date_format'"), ("3/2001", "add the day")],
)
def test_a_message_says_what_to_do(text: str, advice: str) -> None:
    problem = read_date_value(DateColumn("date_sent", 0, "MDY", rules=2), text, "").problem
    assert problem is not None
    assert advice in problem.message


@pytest.mark.parametrize("text", ["N/A", " null ", "NONE", "n.a.", "-", "00/00/0000", "0", "Unknown"])
def test_words_for_no_date_are_blank_and_noted(text: str) -> None:
    for form in (None, "%d.%m.%Y"):
        assert read_date_value(DateColumn("date_sent", 0, "MDY", format=form, rules=2), text, "") == DateValue(
            note=DateNote.NOTHING
        )


@pytest.mark.parametrize("text", ["9/9/9999", "1/1/1900", "12/30/1899 00:00", "12/31/9999"])
def test_placeholders_are_stored_and_noted(text: str) -> None:
    old, new = (read_date_value(DateColumn("date_sent", 0, "MDY", rules=rules), text, "") for rules in (1, 2))
    assert new == old._replace(note=DateNote.PLACEHOLDER)


TEXTS = st.one_of(
    st.sampled_from([*READ, *UNREAD, "1/2/2003", "3:00 PM", "00/00/0000", "2001-05-21T15:04:05Z"]),
    st.datetimes(datetime(1000, 1, 2)).map(lambda each: each.strftime("%m/%d/%Y %H:%M")),
    st.from_regex(r"\A[0-9/.: -]{0,20}(?: [AP]M)?(?: ?\(?[A-Z]{2,3}[+-]?[0-9:]{0,5}\)?)?\Z"),
    st.text(max_size=70),
)


@given(
    text=TEXTS, order=st.sampled_from(["MDY", "DMY"]), time=st.none() | st.sampled_from(["", "3:00 PM", "3 EST", "x"])
)
def test_what_earlier_versions_read_is_read_alike(text: str, order: str, time: str | None) -> None:
    old, new = (
        read_date_value(
            DateColumn("date_sent", 0, order, None, None if time is None else 1, rules=rules), text, time or ""
        )
        for rules in (1, 2)
    )
    assert new.earlier == old.value
    if old.value is not None and new.before is None:
        assert (new.value, new.precision) == (old.value, old.precision)


FORMATS = (
    "%d.%m.%Y",
    "%Y%m%d",
    "%m/%d/%Y %I:%M %p",
    "%d-%b-%Y %H:%M:%S",
    "%A, %B %d, %Y %H:%M:%S.%f",
    "%Y/%m/%d %H%M %z",
)


@given(each=st.datetimes(datetime(1000, 1, 2), datetime(9999, 12, 30)), form=st.sampled_from(FORMATS))
def test_a_format_reads_what_strptime_reads(each: datetime, form: str) -> None:
    text = each.strftime(form).replace("%z", "") + ("+0130" if "%z" in form else "")
    found, expected = read_format(text, form), datetime.strptime(text, form)
    assert found is not None
    assert (found.local, found.offset) == (expected.replace(tzinfo=None), expected.utcoffset())
    assert found.has_time == ("%M" in form)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        *(("1.5.2001 ", "%d.%m.%Y 10"), ("1.5.01", "%d.%m.%Y"), ("512001", "%d%m%Y"), ("31.2.2001", "%d.%m.%Y")),
        *(("13:00 PM 1.5.2001", "%I:%M %p %d.%m.%Y"), ("60", "excel"), ("2958466", "excel"), ("37032,5", "excel")),
        *(("1.5.2001 15:00 +1500", "%d.%m.%Y %H:%M %z"), ("1.5.0999", "%d.%m.%Y"), ("1.5.2001\u0661", "%d.%m.%Y")),
    ],
)
def test_a_cell_in_another_format_is_not_a_date(text: str, form: str) -> None:
    assert read_format(text, form) is None


@given(days=st.integers(61, 2_958_465), seconds=st.integers(0, 86_399))
def test_day_numbers_of_excel_count_from_1899(days: int, seconds: int) -> None:
    found = read_format(f"{days + seconds / 86_400:.10f}".rstrip("0").rstrip("."), "excel")
    assert found is not None
    assert found.local == datetime(1899, 12, 30) + timedelta(days=days, seconds=seconds)
    assert (found.has_time, read_format("61", "excel")) == (seconds > 0, read_format("1.3.1900", "%d.%m.%Y"))


@pytest.mark.parametrize(
    "form",
    [
        *("", "%Y", "%B %Y", "%d.%m", "%d.%m.%Y %Q", "%d.%m.%Y %", "%d.%m.%Y %d", "%d.%m.%Y %y", "%I:%M %d.%m.%Y"),
        *("%d.%m.%Y %M", "%d.%m.%Y %z", "%H %I %p %d.%m.%Y", "%d.%m.%Y" + " " * 60, "%m %b %d %Y", "Excel"),
    ],
)
def test_a_format_that_does_not_denote_one_date_is_refused(form: str) -> None:
    assert explain_bad_format(form) is not None
    with pytest.raises(FileRefusedError, match="'date_format'"):
        parse_date_formats({"date_sent": form})


@pytest.mark.parametrize("given", ["%d", ["x"], {"title": "%d.%m.%Y"}, {"date_sent": 1}])
def test_the_option_names_fields_of_dates(given: object) -> None:
    with pytest.raises(FileRefusedError, match="'date_format'"):
        parse_date_formats(given)
