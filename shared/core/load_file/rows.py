"""Parse the cells of a record into a row, before its values are coerced to database columns.

Guaranteed: a row has either a control number and no errors, or errors and is rejected; every cell of a row without
errors can be rebuilt exactly from its values, its properties and its changes, but for the line that an error file adds.
To this end, the text of every cell that its column cannot store as written is also kept as a property: dates, lists of
names, ids with spaces around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from core.cells import keys
from core.codes import Rejection, VolumeCode, WarningCode
from core.exhibit_fields import KEYS, TEXTS
from core.load_file.date_columns import NO_DATES, RowDates, read_dates
from core.load_file.encoding import REPLACEMENT, describe_undecoded_bytes, has_surrogates
from core.load_file.field_mapping import ORIGINAL_LINE, get_id_field, is_path_column
from core.load_file.grammar import ASCII_WHITESPACE, MAX_RECORD_BYTES
from core.load_file.layout import Layout
from core.load_file.list_values import ListSigns
from core.load_file.original_lines import has_line_column, is_line_cell
from core.load_file.record_reader import SourceRecord
from core.texts.cells import EXTRACTED_TEXT

MAX_NAMES = 1_000


class RowError(NamedTuple):
    """Why a row is rejected: a code, the column at fault (None: the whole row), a message for the report."""

    code: Rejection | VolumeCode | WarningCode
    column: str | None
    message: str


class ValueChange(NamedTuple):
    """A value of an imported row that differs from the file, or a file of the volume that is not as the row says.

    `original` is the text in the file, None if the file has no such text; `stored` is what is stored of it.
    """

    code: WarningCode | VolumeCode
    column: str | None
    message: str
    original: str | None
    stored_bytes: int | None = None
    stored: str | None = None


class Name(NamedTuple):
    """A custodian or tag name, spelled as in the cell, and its column."""

    name: str
    column: str


@dataclass
class Row:
    """The values of a record.

    `values` holds the texts of KEYS and TEXTS that are not blank, by field; `properties` holds the other cells that
    are not blank, by column name.
    """

    source: SourceRecord
    control_number: str | None = None
    values: dict[str, str] = field(default_factory=dict)
    dates: RowDates = NO_DATES
    properties: dict[str, str] = field(default_factory=dict)
    custodians: list[Name] = field(default_factory=list)
    tags: list[Name] = field(default_factory=list)
    errors: list[RowError] = field(default_factory=list)
    changes: list[ValueChange] = field(default_factory=list)

    @property
    def document_date(self) -> datetime | None:
        """The date of the document."""
        return self.dates.values[0]


def parse_row(record: SourceRecord, layout: Layout) -> Row:
    """Return the values of a record; `errors` has every reason why it cannot be imported."""
    row = Row(record)
    cells = record.cells
    if cells is None:
        row.errors.append(_describe_unread(record, layout))
        return row
    if not layout.grammar.has_expected_cells(cells):
        row.errors.append(_describe_cell_count(layout, len(cells)))
        return row
    if has_line_column(layout) and not is_line_cell(cells[len(layout.names) - 1]):
        row.errors.append(_describe_line_cell(layout))
        return row
    row.errors += _find_undecodable_cells(cells, layout)
    for index, (name, text) in enumerate(zip(layout.names, cells, strict=False)):
        if text and layout.fields[index] != ORIGINAL_LINE:
            _parse_cell(row, layout, index, name, text)
            _note_lost_characters(row, name, text)
    _set_control_number(row, layout)
    _set_parent_from_family(row, layout)
    row.dates = read_dates(layout, cells)
    for code, message, index in row.dates.problems:
        row.changes.append(ValueChange(code, layout.names[index], message, cells[index]))
    return row


def _describe_unread(record: SourceRecord, layout: Layout) -> RowError:
    """Return why a record has no cells: it is too large to be read, or its quoting is damaged."""
    if record.byte_len > MAX_RECORD_BYTES:
        message = f"The record has {record.byte_len} bytes; the maximum is {MAX_RECORD_BYTES}. Shorten it."
        if EXTRACTED_TEXT in layout.fields:
            message += " A longer text can be a file of a volume, whose path the row has."
        return RowError(Rejection.RECORD_TOO_LARGE, None, message)
    message = f"A text qualifier ({layout.grammar.qualifier}) is not closed, or is inside a cell and not doubled."
    advice, line = "Close or double it.", record.original_line
    if line is not None:
        # Also the reason for a record that has such a line in a cell, although its quoting can be right.
        advice += f" If a line of a cell ends in a number such as L{line}, remove {layout.names[-1]} from all rows."
    return RowError(Rejection.MALFORMED_QUOTING, None, f"{message} {advice}")


def _describe_cell_count(layout: Layout, found: int) -> RowError:
    expected = layout.grammar.cells + layout.grammar.spare_cell
    # Without a header, the number can come from the option `cells`, and the first record can be wrong.
    source = "the first record of the file has" if layout.has_header else "it should have"
    message = f"The row has {found} cells; {source} {expected}."
    return RowError(Rejection.WRONG_CELL_COUNT, None, f"{message} Check for a delimiter inside an unquoted cell.")


def _describe_line_cell(layout: Layout) -> RowError:
    message = "The cell is not a line such as L17: the row may have one cell too many."
    advice = "Check for a delimiter inside an unquoted cell. In a row that you added, write new here."
    return RowError(Rejection.WRONG_CELL_COUNT, layout.names[-1], f"{message} {advice}")


def _find_undecodable_cells(cells: list[str], layout: Layout) -> Iterator[RowError]:
    if not has_surrogates("".join(cells)):
        return
    for name, text in zip(layout.names, cells, strict=False):
        if has_surrogates(text):
            message = f"{describe_undecoded_bytes(text)} cannot be decoded as {layout.encoding}"
            advice = "Encode the cell again, or set option 'encoding'."
            yield RowError(Rejection.UNDECODABLE_BYTES, name, f"{message}. {advice}")


def _parse_cell(row: Row, layout: Layout, index: int, name: str, text: str) -> None:
    field_name = layout.fields[index]
    if field_name in KEYS:
        _parse_key(row, layout, str(field_name), name, text)
    elif field_name in ("custodians", "tags"):
        row.properties[name] = text
        names = row.custodians if field_name == "custodians" else row.tags
        before = len(names)
        _parse_names(row, layout, names, Name(text, name), has_levels=field_name == "tags")
        if layout.judges_keys:
            odd = filter(keys.is_odd_name, [each.name for each in names[before:]])
            _note_unseen(row, name, text, keys.describe_unseen_name(next(odd, "")))
    elif index == layout.first_date:
        row.properties[name] = text
    else:
        text = _restore_newlines(row, layout, field_name, name, text)
        target, key = (row.values, str(field_name)) if field_name in TEXTS else (row.properties, name)
        target[key] = text
        if field_name == "file_name" and layout.judges_keys and keys.has_order_mark(text):
            _note_unseen(row, name, text, keys.describe_unseen_name(text))


def _parse_key(row: Row, layout: Layout, field_name: str, name: str, text: str) -> None:
    key = read_key(text, layout)
    if key:
        row.values[field_name] = key
    if key != text:
        row.properties[name] = text
    if layout.judges_keys:
        _judge_key(row, layout, field_name, name, text)


def read_key(text: str, layout: Layout) -> str:
    """Return the key in a cell: without the spaces around it, and out of the formula of a spreadsheet."""
    trimmed = text.strip(ASCII_WHITESPACE)
    return keys.unwrap_formula(trimmed) if layout.judges_keys else trimmed


def _judge_key(row: Row, layout: Layout, field_name: str, name: str, text: str) -> None:
    key, trimmed = read_key(text, layout), text.strip(ASCII_WHITESPACE)
    # An id with a line break has an error of its own.
    lines = key.replace("\n", "").replace("\r", "") if field_name == get_id_field(layout.fields) else key
    control = keys.describe_control(lines) if keys.may_be_odd(key) else None
    if control:
        row.errors.append(RowError(Rejection.KEY_NOT_STORABLE, name, control))
    if key != trimmed:
        message = keys.describe_unwrapped(trimmed, key)
        row.changes.append(ValueChange(WarningCode.KEY_UNWRAPPED, name, message, text))
    _note_unseen(row, name, text, keys.describe_unseen(key))
    written = keys.describe_spreadsheet_key(key)
    if written:
        row.changes.append(ValueChange(WarningCode.KEY_LOOKS_CHANGED, name, written, text))


def _note_unseen(row: Row, name: str, text: str, message: str | None) -> None:
    if message:
        row.changes.append(ValueChange(WarningCode.UNSEEN_CHARACTERS, name, message, text))


def _note_lost_characters(row: Row, name: str, text: str) -> None:
    """Note U+FFFD, which an error file has where the source had bytes that could not be decoded."""
    if REPLACEMENT in text:
        message = "The text has U+FFFD in place of characters that were lost before. Correct them in the exhibit."
        row.changes.append(ValueChange(WarningCode.REPLACEMENT_CHARACTER, name, message, text))


def _parse_names(row: Row, layout: Layout, names: list[Name], cell: Name, *, has_levels: bool) -> None:
    text = layout.lists.replace_newlines(cell.name, layout.newline)
    count = layout.lists.count(text)
    if count > MAX_NAMES:
        message = f"The cell has {count} values; the maximum is {MAX_NAMES}. Check which field the column is mapped to."
        row.errors.append(RowError(Rejection.TOO_MANY_VALUES, cell.column, message))
        return
    names += split_names(layout.lists, cell._replace(name=text), names, has_levels=has_levels)


def split_names(signs: ListSigns, cell: Name, existing: Iterable[Name], *, has_levels: bool) -> list[Name]:
    """Return the distinct values of a multi-value cell, trimmed, without those in `existing`."""
    known, names = {"", *(name.name for name in existing)}, []
    for value in signs.split(cell.name, has_levels=has_levels):
        if value not in known:
            known.add(value)
            names.append(Name(value, cell.column))
    return names


def _restore_newlines(row: Row, layout: Layout, field_name: str | None, name: str, text: str) -> str:
    """Return the text with LF in place of the character that represents line breaks in this file.

    In a record of one physical line, every LF in the result was such a character. In a record of several lines, every
    LF was a real line break. A cell for which neither would be true keeps its original text in a change. Paths and file
    names, which have no line breaks, keep the character; those that name a file of the exhibit with a change.
    """
    if layout.newline is None or layout.newline not in text:
        return text
    if is_path_column(name, field_name):
        if field_name:
            message = f"{layout.newline} stands for a line break in this file; a path or file name keeps it as written."
            row.changes.append(ValueChange(WarningCode.NEWLINE_MARK_KEPT, name, message, text))
        return text
    if row.source.line_count > 1:
        message = "The record has real line breaks and the character for line breaks; both are line breaks now."
        row.changes.append(ValueChange(WarningCode.MIXED_NEWLINES, name, message, text))
    return text.replace(layout.newline, "\n")


def _set_control_number(row: Row, layout: Layout) -> None:
    field_name = get_id_field(layout.fields)
    row.control_number = row.values.get(field_name)
    if row.control_number is None:
        name = layout.names[layout.fields.index(field_name)]
        row.errors.append(RowError(Rejection.MISSING_ID, name, "The row has no id. Add one."))
    row.values.pop("control_number", None)


def _set_parent_from_family(row: Row, layout: Layout) -> None:
    """Set a blank parent to the first document of the family.

    Only if the id is the begin Bates number or equal to it: family ranges are Bates numbers. A blank property tells
    that the cell of the parent was blank.
    """
    own, parent = row.values.get("bates_begin"), row.values.get("parent_control_number")
    if parent is not None or own is None or own != row.control_number:
        return
    for column in layout.find_columns("family_begin"):
        first = read_key((row.source.cells or [])[column], layout)
        if first and first != own:
            row.values["parent_control_number"] = first
            for blank in layout.find_columns("parent_control_number"):
                row.properties.setdefault(layout.names[blank], "")
