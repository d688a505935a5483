"""Decide from the facts of a file's columns what its import warns of, and say what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.codes import WarningCode
from core.dates.notations import PIVOT
from core.dates.words import DateNote
from core.exhibit_dates import DATE_FIELDS
from core.imports.columns.facts import ColumnFact, ColumnFacts, Note
from core.imports.list_signs import OWN, QUOTED, SIGN, STRONG, VALUE, WEAK
from core.load_file.header_names import TIME_FIELDS
from core.load_file.layout import Layout

_FIRST = PIVOT + 1900
_NAMES = {"\t": "tab"}
# Without an overlay their rows are rejected: they have other names.
_HELD = "For documents that the case has already, import the file again with the option and mode 'overlay'"
_JOINED = "it adds the values, and with option 'multi_values' 'replace' it removes all others"


@dataclass(frozen=True)
class ColumnWarning:
    """A warning about a column of a file; `column` is its name."""

    code: WarningCode
    column: str
    message: str


def list_warnings(layout: Layout, facts: ColumnFacts, *, is_complete: bool = True) -> list[ColumnWarning]:
    """Return the warnings in the order of the columns.

    Unless `is_complete`, the facts of some rows are missing: nothing is said that these could disprove.
    """
    found = []
    for index, fact in sorted(facts.items()):
        name, field = layout.names[index], str(layout.fields[index])
        if is_complete and fact.cells and not fact.has_effect:
            found.append(ColumnWarning(WarningCode.COLUMN_WITHOUT_EFFECT, name, _describe_silence(name, field, fact)))
        found += [ColumnWarning(code, name, message) for code, message in _list_date_notes(fact)]
        if is_complete:
            found += [ColumnWarning(WarningCode.OTHER_SEPARATOR, name, each) for each in _list_signs(layout, fact)]
    return found


def _describe_silence(name: str, field: str, fact: ColumnFact) -> str:
    samples = ", ".join(f"{each.text!r} in line {each.line}" for each in fact.samples)
    values = "its value" if fact.cells == 1 else f"none of its {fact.cells:,} values"
    verb = "has no effect" if fact.cells == 1 else "has an effect"
    message = f"{name} is read as {field}, and {values} {verb}: {samples}"
    return f"{message}. The texts are kept as properties. {_advise(field)}"


def _advise(field: str) -> str:
    if field in DATE_FIELDS:
        return "State how the dates are written with option 'date_format', or correct the column."
    if field in TIME_FIELDS.values():
        return "Compare it with the times of its date column, or map the column to \"property\" with option 'columns'."
    return "Correct it, set option 'multi_value_separator', or map the column to another field with option 'columns'."


def _list_date_notes(fact: ColumnFact) -> Iterator[tuple[WarningCode, str]]:
    note = fact.notes.get(DateNote.NOTHING)
    if note:
        message = f"{_count(note, 'cell says', 'cells say')} in words or zeros that there is no date{_show(note)}"
        yield WarningCode.NO_DATE_STATED, f"{message}. They are blank dates; the texts are kept as properties."
    note = fact.notes.get(DateNote.PLACEHOLDER)
    if note:
        message = f"{_count(note, 'date is', 'dates are')} what programs write where none is known{_show(note)}"
        yield WarningCode.DATE_PLACEHOLDER, f"{message}. They are stored as they are written. Compare the documents."
    note = fact.notes.get(DateNote.SHORT_YEAR)
    if note:
        message = f"{_count(note, 'year has', 'years have')} two digits{_show(note)}: read as {_FIRST} to {_FIRST + 99}"
        advice = "If years come first or are others, set option 'date_format'."
        yield WarningCode.TWO_DIGIT_YEAR, f"{message}. {advice}"


def _list_signs(layout: Layout, fact: ColumnFact) -> Iterator[str]:
    separator, values = layout.lists.separator, fact.notes.get(VALUE)
    quoted = fact.notes.get(QUOTED)
    if quoted:
        message = f"{_count(quoted, 'cell has', 'cells have')} {separator!r} within quotation marks{_show(quoted)}"
        advice = f"set option 'multi_value_separator' to {separator!r}, with which quoted values stay whole"
        yield f"{message}. It separates values all the same: if it should not, {advice}. {_HELD}: {_JOINED}."
    if values is None or OWN in fact.notes:
        return
    for sign in (*STRONG, *WEAK):
        note = fact.notes.get(SIGN + sign)
        if note and (sign in STRONG or note.count == values.count):
            shown = _NAMES.get(sign, sign)
            message = f"No value contains {separator!r}, and {note.count:,} of {values.count:,} contain {shown!r}"
            advice = f"Each is one value. If {shown!r} separates several, set option 'multi_value_separator' to it."
            yield f"{message}{_show(note)}. {advice} {_HELD}: {_JOINED}."


def _count(note: Note, one: str, several: str) -> str:
    return f"1 {one}" if note.count == 1 else f"{note.count:,} {several}"


def _show(note: Note) -> str:
    return f", as in line {note.first.line}: {note.first.text!r}"
