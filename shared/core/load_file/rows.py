"""A record's cells to what they mean, before anything is fitted to the database.

Guaranteed: a row has either a control number and no problems, or problems and is rejected; every cell of a row without
problems can be rebuilt exactly from its values, its properties and its losses. For that the text of every cell that
its column cannot hold as it was written is kept as a property too: dates, lists of names, ids with spaces around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from core.dates import is_zero, parse_date
from core.field_mapping import id_field
from core.load_file.chunk import SourceRecord
from core.load_file.encoding import damaged_bytes, is_damaged
from core.load_file.grammar import ASCII_WHITESPACE
from core.load_file.layout import Layout
from core.reasons import Rejection, WarningCode

KEYS = ("control_number", "bates_begin", "bates_end", "parent_control_number")
TEXTS = ("title", "file_name", "native_path", "text_path")
MULTI_VALUE_SEPARATOR = ";"
MAX_NAMES = 1_000


class Problem(NamedTuple):
    """Why a row is rejected: a code, the column it is about (None: the whole row), a sentence for the report."""

    code: Rejection
    column: str | None
    message: str


class Loss(NamedTuple):
    """What an imported row does not hold as the file had it; `original` is the file's text, None if there is none."""

    code: WarningCode
    column: str | None
    message: str
    original: str | None
    stored_bytes: int | None = None


class Name(NamedTuple):
    """A custodian or tag as a cell spells it."""

    name: str
    column: str


@dataclass
class Row:
    """A record as the file means it.

    `values` holds the texts of KEYS and TEXTS that are not blank, by field; `properties` the other cells that are
    not blank, by column name.
    """

    source: SourceRecord
    control_number: str | None = None
    values: dict[str, str] = field(default_factory=dict)
    document_date: datetime | None = None
    properties: dict[str, str] = field(default_factory=dict)
    custodians: list[Name] = field(default_factory=list)
    tags: list[Name] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)


def parse_row(record: SourceRecord, layout: Layout) -> Row:
    """What the record says; anything that keeps it from being imported is in `problems`."""
    row = Row(record)
    cells = record.cells
    if cells is None:
        row.problems.append(_malformed(layout))
        return row
    if not layout.grammar.fits(cells):
        expected, found = layout.grammar.cells, len(cells)
        row.problems.append(
            Problem(Rejection.WRONG_CELL_COUNT, None, f"the row has {found} cells, the file's first has {expected}")
        )
        return row
    row.problems += _undecodable(cells, layout)
    for index, (name, text) in enumerate(zip(layout.names, cells, strict=False)):
        if text:
            _take_cell(row, layout, layout.fields[index], name, text)
    _settle_id(row, layout)
    _settle_family(row, layout)
    return row


def _malformed(layout: Layout) -> Problem:
    return Problem(
        Rejection.MALFORMED_QUOTING,
        None,
        f"a text qualifier ({layout.grammar.qualifier}) is not closed, or stands inside a cell without being doubled",
    )


def _undecodable(cells: list[str], layout: Layout) -> Iterator[Problem]:
    if not is_damaged("".join(cells)):
        return
    for name, text in zip(layout.names, cells, strict=False):
        if is_damaged(text):
            bad = damaged_bytes(text)
            yield Problem(Rejection.UNDECODABLE_BYTES, name, f"{bad} cannot be decoded as {layout.encoding}")


def _take_cell(row: Row, layout: Layout, field_name: str | None, name: str, text: str) -> None:
    if field_name in KEYS:
        trimmed = text.strip(ASCII_WHITESPACE)
        if trimmed:
            row.values[str(field_name)] = trimmed
        if trimmed != text:
            row.properties[name] = text
    elif field_name in ("custodians", "tags"):
        row.properties[name] = text
        _take_names(row, row.custodians if field_name == "custodians" else row.tags, name, text)
    elif field_name == "document_date":
        row.properties[name] = text
        _take_date(row, layout, name, text)
    else:
        text = _with_newlines(row, layout, name, text)
        target, key = (row.values, str(field_name)) if field_name in TEXTS else (row.properties, name)
        target[key] = text


def _take_names(row: Row, names: list[Name], column: str, text: str) -> None:
    count = text.count(MULTI_VALUE_SEPARATOR) + 1
    if count > MAX_NAMES:
        message = f"the cell has {count} values; the most is {MAX_NAMES}"
        row.problems.append(Problem(Rejection.TOO_MANY_VALUES, column, message))
        return
    names += names_in(text, column, names)


def names_in(text: str, column: str, taken: Iterable[Name]) -> list[Name]:
    """The values of a multi-value cell, trimmed, each once and none that is taken."""
    known = {"", *(name.name for name in taken)}
    values = dict.fromkeys(value.strip(ASCII_WHITESPACE) for value in text.split(MULTI_VALUE_SEPARATOR))
    return [Name(value, column) for value in values if value not in known]


def _take_date(row: Row, layout: Layout, name: str, text: str) -> None:
    stripped = text.strip()
    row.document_date = parse_date(stripped, layout.date_order)
    if row.document_date is None and stripped and not is_zero(stripped):
        message = f"not a date (day and month are read as {layout.date_order}); the date is empty, the text is kept"
        row.losses.append(Loss(WarningCode.INVALID_DATE, name, message, text))


def _with_newlines(row: Row, layout: Layout, name: str, text: str) -> str:
    """The text with the file's mark for a line end turned into one.

    In a record of one physical line every LF stands for a mark, in one of several lines for itself; a cell for which
    neither would be true keeps its original in a loss.
    """
    if layout.newline is None or layout.newline not in text:
        return text
    if row.source.line_count > 1:
        message = "the record has real line ends and marks for line ends; the marks were turned into line ends"
        row.losses.append(Loss(WarningCode.MIXED_NEWLINES, name, message, text))
    return text.replace(layout.newline, "\n")


def _settle_id(row: Row, layout: Layout) -> None:
    field_name = id_field(layout.fields)
    row.control_number = row.values.get(field_name)
    if row.control_number is None:
        name = layout.names[layout.fields.index(field_name)]
        row.problems.append(Problem(Rejection.MISSING_ID, name, "the row has no id"))
    row.values.pop("control_number", None)


def _settle_family(row: Row, layout: Layout) -> None:
    """A family is named by its first document, so that a member without a parent column has that as its parent.

    Only where the id is the begin Bates: a family's range is given in Bates numbers.
    """
    if "parent_control_number" in layout.fields or "control_number" in layout.fields:
        return
    for column in layout.columns_of("family_begin"):
        first = row.properties.get(layout.names[column], "").strip(ASCII_WHITESPACE)
        if first and first != row.control_number:
            row.values["parent_control_number"] = first
