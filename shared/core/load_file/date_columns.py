"""Read the dates of a row: from the cells of its date columns, and of the columns that hold their times.

Guaranteed: a date without a time is never shifted, whatever the time zone. A time is in UTC if it has an offset, or if
the zone of its column is known; otherwise it is as written. `DATE_FIELDS` is the order of dates and precisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, time, timedelta
from typing import NamedTuple

from core.codes import WarningCode
from core.exhibit_dates import DATE_FIELDS, Precision
from core.load_file.dates import WrittenDate, is_zero_date, parse_date, read_date, read_time
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
    """What a date column says of one document."""

    value: datetime | None = None
    precision: Precision = Precision.NONE
    problem: DateProblem | None = None


class RowDates(NamedTuple):
    """The dates of a row, in the order of DATE_FIELDS, without a time zone.

    `source` is the field that the document date comes from; None if there is none, or a column of its own.
    `precisions` has a letter of `Precision` for each date; None if there is no date.
    `hashed` is the document date that versions with one date stored.
    """

    values: tuple[datetime | None, ...] = (None,) * len(DATE_FIELDS)
    source: str | None = None
    precisions: str | None = None
    hashed: datetime | None = None
    problems: tuple[DateProblem, ...] = ()


NO_DATES = RowDates()


def read_dates(layout: Layout, cells: Sequence[str] | Mapping[int, str]) -> RowDates:
    """Return the dates of a row with the expected number of cells, by the indexes of the columns."""
    if not layout.date_columns:
        return NO_DATES
    found = {
        column.field: read_date_value(column, cells[column.index], "" if column.time is None else cells[column.time])
        for column in layout.date_columns
    }
    source = "document_date"
    if source not in found:
        source = next((field for field, date in found.items() if date.value), source)
        found["document_date"] = found.get(source, DateValue())._replace(problem=None)
    ordered = [found.get(field, DateValue()) for field in DATE_FIELDS]
    precisions = "".join(date.precision for date in ordered)
    return RowDates(
        tuple(date.value for date in ordered),
        None if source == "document_date" else source,
        precisions if any(date.value for date in ordered) else None,
        _read_hashed(layout, cells),
        tuple(date.problem for date in ordered if date.problem),
    )


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
    found = read_date(text, column.order)
    if found is None:
        stripped = text.strip()
        return DateValue() if not stripped or is_zero_date(stripped) else _refuse_date(column)
    if column.time is None or _has_own_time(found):
        return _convert(column, found)
    return _join_time(column, column.time, found, time_text)


def _join_time(column: DateColumn, time_column: int, day: WrittenDate, time_text: str) -> DateValue:
    """Return the day with the time in the companion cell; without one it is a day."""
    written = read_time(time_text)
    if written is not None:
        local = datetime.combine(day.local, written.local.time())
        return _convert(column, WrittenDate(local, True, written.offset))
    message = "Not a time. The date is stored without it; the text is kept as a property."
    problem = DateProblem(WarningCode.INVALID_TIME, message, time_column) if time_text.strip() else None
    return DateValue(day.local, Precision.DAY, problem)


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


def _refuse_date(column: DateColumn) -> DateValue:
    message = f"Not a date (read as {column.order}). The date is left empty; the text is kept as a property."
    return DateValue(problem=DateProblem(WarningCode.INVALID_DATE, message, column.index))
