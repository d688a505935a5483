"""Read the dates of a row: from the cells of its date columns, and of the columns that hold their times.

Guaranteed: a date without a time is never shifted, whatever the time zone. A time is in UTC if it has an offset, or if
the zone of its column is known; otherwise it is as written. `DATE_FIELDS` is the order of dates and precisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import NamedTuple

from core.codes import WarningCode
from core.dates.formats import read_format
from core.dates.notations import read_notation, read_time_notation
from core.dates.words import FIRST_END, LATEST_ZERO, PLACEHOLDERS, DateNote, advise, is_no_date
from core.dates.written_dates import WrittenDate, is_zero_date, parse_date, read_date, read_time
from core.exhibit_dates import DATE_FIELDS, Precision
from core.load_file.field_mapping import MappingReason, find_meaning
from core.load_file.header_names import LAST_DATE_RANK, SYNONYMS
from core.load_file.layout import DateColumn, Layout
from core.time_zones import load_zone
from core.timestamps import FIRST_YEAR

_MIDNIGHT = time()


class DateProblem(NamedTuple):
    """A warning about a date, and the index of the column at fault."""

    code: WarningCode
    message: str
    column: int


class DateValue(NamedTuple):
    """What a date column says of one document.

    `note` is what is said of it once for the column. `before` has what earlier versions read, if that is another value.
    """

    value: datetime | None = None
    precision: Precision = Precision.NONE
    problem: DateProblem | None = None
    note: DateNote | None = None
    before: tuple[datetime | None] | None = None

    @property
    def earlier(self) -> datetime | None:
        """The value that earlier versions read."""
        return self.value if self.before is None else self.before[0]


class RowDates(NamedTuple):
    """The dates of a row, in the order of DATE_FIELDS, without a time zone.

    `source` is the field that the document date comes from; None if there is none, or a column of its own.
    `precisions` has a letter of `Precision` for each date; None if there is no date.
    `hashed` is the document date that versions with one date stored. `notes` are the columns with a note. `before` are
    the values that earlier versions read, empty if they are the same.
    """

    values: tuple[datetime | None, ...] = (None,) * len(DATE_FIELDS)
    source: str | None = None
    precisions: str | None = None
    hashed: datetime | None = None
    problems: tuple[DateProblem, ...] = ()
    notes: tuple[tuple[int, DateNote], ...] = ()
    before: tuple[datetime | None, ...] = ()


NO_DATES = RowDates()


def read_dates(layout: Layout, cells: Sequence[str] | Mapping[int, str]) -> RowDates:
    """Return the dates of a row with the expected number of cells, by the indexes of the columns."""
    if not layout.date_columns:
        return NO_DATES
    found = {
        column.field: read_date_value(column, cells[column.index], "" if column.time is None else cells[column.time])
        for column in layout.date_columns
    }
    dates, source = _choose_document_date(found)
    values = tuple(date.value for date in dates)
    before: tuple[datetime | None, ...] = ()
    if any(date.before for date in found.values()):
        earlier = {field: DateValue(date.earlier) for field, date in found.items()}
        before = tuple(date.value for date in _choose_document_date(earlier)[0])
    precisions = "".join(date.precision for date in dates)
    return RowDates(
        values,
        source,
        precisions if any(date.value for date in dates) else None,
        _read_hashed(layout, cells),
        tuple(date.problem for date in dates if date.problem),
        tuple((column.index, note) for column in layout.date_columns if (note := found[column.field].note)),
        () if before == values else before,
    )


def _choose_document_date(found: Mapping[str, DateValue]) -> tuple[list[DateValue], str | None]:
    """Return the dates in the order of DATE_FIELDS, and the field that the document date comes from, as in RowDates."""
    source, dates = "document_date", dict(found)
    if source not in dates:
        source = next((field for field, date in dates.items() if date.value), source)
        dates["document_date"] = dates.get(source, DateValue())._replace(problem=None)
    return [dates.get(field, DateValue()) for field in DATE_FIELDS], None if source == "document_date" else source


def _read_hashed(layout: Layout, cells: Sequence[str] | Mapping[int, str]) -> datetime | None:
    if not layout.was_hashed_otherwise:
        return None
    columns = (column for column in layout.date_columns if column.index == layout.first_date)
    return next((parse_date(cells[column.index], column.order) for column in columns), None)


def read_date_value(column: DateColumn, text: str, time_text: str) -> DateValue:
    """Return the date in a cell, with the time in the companion cell if the date cell has none.

    A midnight without an offset is not a time where there is a column of times, whether or not its cell has one: many
    programs write it for a day.
    """
    found = read_date(text, column.order) if column.format is None else read_format(text, column.format)
    if found is None:
        return _read_otherwise(column, text.strip(), time_text)
    if column.time is None or _has_own_time(found):
        date = _convert(column, found)
    else:
        date = _join_time(column, column.time, found, time_text)
    if LATEST_ZERO < found.local.year < FIRST_END or column.rules == 1 or found.local.date() not in PLACEHOLDERS:
        return date
    return date._replace(note=DateNote.PLACEHOLDER)


def _read_otherwise(column: DateColumn, text: str, time_text: str) -> DateValue:
    """Return what the rest of the rules say of a cell that is not in its format, or not in one of the usual ones."""
    if not text or (column.rules == 1 and is_zero_date(text)):
        return DateValue()
    if column.rules == 1:
        return _refuse_date(column, text)
    if is_no_date(text):
        # Earlier versions warned of the words, and stored no date either.
        return DateValue(note=DateNote.NOTHING)
    found = read_notation(text, column.order) if column.format is None else None
    if found is None:
        return _refuse_date(column, text)
    date = _complete(column, found.date, time_text)
    if date.value is None:
        return date
    return date._replace(note=DateNote.SHORT_YEAR if found.has_short_year else None, before=(None,))


def _complete(column: DateColumn, found: WrittenDate, time_text: str) -> DateValue:
    if column.time is None or _has_own_time(found):
        return _convert(column, found)
    return _join_time(column, column.time, found, time_text)


def _join_time(column: DateColumn, time_column: int, day: WrittenDate, time_text: str) -> DateValue:
    """Return the day with the time in the companion cell; without one it is a day."""
    written, before = read_time(time_text), None
    if written is None and column.rules > 1:
        written, before = read_time_notation(time_text), (day.local,)
        time_text = "" if is_no_date(time_text.strip()) else time_text
    if written is not None:
        local = datetime.combine(day.local, written.local.time())
        return _convert(column, WrittenDate(local, True, written.offset))._replace(before=before)
    message = "Not a time. The date is stored without it; the text is kept as a property."
    problem = DateProblem(WarningCode.INVALID_TIME, message, time_column) if time_text.strip() else None
    return DateValue(day.local, Precision.DAY, problem)


def uses_time(column: DateColumn, text: str, time_text: str) -> bool:
    """Return whether the time in the companion cell is that of the date: it completes it, or equals its own."""
    if not time_text.strip() or column.time is None:
        return False
    date = read_date_value(column, text, "")
    completed = read_date_value(column, text, time_text)
    if date.value is None or completed.problem is not None:
        return False
    written = read_time(time_text) or read_time_notation(time_text)
    found = read_date(text, column.order) if column.format is None else read_format(text, column.format)
    own = found and found.local.time()
    return completed != date or (written is not None and own == written.local.time())


def _has_own_time(found: WrittenDate) -> bool:
    return found.has_time and (found.offset is not None or found.local.time() != _MIDNIGHT)


def _convert(column: DateColumn, found: WrittenDate) -> DateValue:
    if not found.has_time:
        return DateValue(found.local, Precision.DAY)
    if found.offset is not None:
        return _shift(column, found.local, found.offset)
    if column.zone is None:
        return DateValue(found.local, Precision.TIME)
    return _convert_local(column, column.zone, found.local)


def _convert_local(column: DateColumn, zone: str, local: datetime) -> DateValue:
    """Return the time of a zone in UTC, as PEP 495 says for fold=0.

    The first of two where clocks were set back; moved on by the gap where they were set forward.
    """
    found = load_zone(zone)
    offset, later = (found.utcoffset(local.replace(fold=fold)) or timedelta() for fold in (0, 1))
    date, problem = _shift(column, local, offset), None
    if offset > later:
        message = f"Clocks in {zone} showed this time twice when they were set back; the first one is stored."
        problem = DateProblem(WarningCode.AMBIGUOUS_TIME, message, column.index)
    elif offset < later:
        message = f"Clocks in {zone} did not show this time: they were set forward. It is stored moved on by the gap."
        problem = DateProblem(WarningCode.NONEXISTENT_TIME, message, column.index)
    return date._replace(problem=problem) if problem and date.value else date


def _shift(column: DateColumn, local: datetime, offset: timedelta) -> DateValue:
    try:
        value = local - offset
    except OverflowError:
        return _refuse_date(column)
    return DateValue(value, Precision.UTC_TIME) if value.year >= FIRST_YEAR else _refuse_date(column)


def _refuse_date(column: DateColumn, text: str = "") -> DateValue:
    form = column.format or column.order
    message = f"Not a date (read as {form}). The date is left empty; the text is kept as a property."
    if column.rules > 1:
        advice = "Correct the cell or the option 'date_format'." if column.format else advise(text, column.field)
        message = f"{message} {advice}"
    return DateValue(problem=DateProblem(WarningCode.INVALID_DATE, message, column.index))


def find_hashed_date(names: Sequence[str], fields: Sequence[str | None], reasons: Sequence[str]) -> int | None:
    """Return the column that was the document date before there were other dates; None if the file has no date.

    It was the first one by name, whatever its event. The row hashes of exhibits that were stored then cover its date,
    so that importing their file again finds them unchanged.
    """
    chosen = (MappingReason.GIVEN, MappingReason.PROFILE)
    if "document_date" in fields and reasons[fields.index("document_date")] in chosen:
        return fields.index("document_date")
    ranked: list[tuple[bool, bool, int, int, int]] = []
    for index, name in enumerate(names):
        found = find_meaning(name)
        if found and found.field in DATE_FIELDS and fields[index] in DATE_FIELDS:
            is_last = (found.field, found.rank) == ("document_date", LAST_DATE_RANK)
            is_composed = found.rank >= len(SYNONYMS[found.field])
            ranked.append((is_last, is_composed, DATE_FIELDS.index(found.field), found.rank, index))
    return min(ranked)[-1] if ranked else None
