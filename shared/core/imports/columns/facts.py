"""What the cells of each column amount to: whether any had an effect, and what is said of them once for the column.

Guaranteed: the facts of a file are those of its chunks, merged in any order; they are a function of the rows that can
be read, whatever the case holds, so that a check and the import after it find the same. Their size does not depend on
the number of rows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from core.dates.words import DateNote
from core.imports.columns.effects import HasEffect, list_effects, says_nothing
from core.imports.list_signs import note_signs
from core.load_file.date_columns import read_date_value
from core.load_file.given_columns import MULTI_COLUMN_FIELDS
from core.load_file.layout import Layout

SAMPLES, MAX_SAMPLE_CHARACTERS = 3, 200
_CUT = "..."


class CellSample(NamedTuple):
    """A cell, cut at MAX_SAMPLE_CHARACTERS with a mark, and its line."""

    line: int
    text: str


@dataclass(frozen=True)
class Note:
    """How many cells something is said of, and the first of them."""

    count: int
    first: CellSample


@dataclass
class ColumnFact:
    """The facts of a column; `cells` and `samples` are those without an effect, 0 and empty where one has an effect."""

    has_effect: bool = False
    cells: int = 0
    samples: list[CellSample] = field(default_factory=list)
    notes: dict[str, Note] = field(default_factory=dict)

    def merge(self, other: ColumnFact) -> ColumnFact:
        """Return the facts of both parts of the column."""
        notes = dict(self.notes)
        for name, note in other.notes.items():
            own = notes.get(name)
            notes[name] = Note(own.count + note.count, min(own.first, note.first)) if own else note
        if self.has_effect or other.has_effect:
            return ColumnFact(True, notes=notes)
        samples = sorted([*self.samples, *other.samples])[:SAMPLES]
        return ColumnFact(False, self.cells + other.cells, samples, notes)


# By the index of the column; a column without an entry has neither cells nor notes.
ColumnFacts = dict[int, ColumnFact]


class ColumnCells(NamedTuple):
    """Rows that can be read, in file order, by column: their lines, their cells, and the notes of their dates.

    Columns of dates without notes may be left out of `notes`.
    """

    lines: Sequence[int]
    columns: Sequence[Sequence[str]]
    notes: Mapping[int, Sequence[DateNote | None]]


def cut(text: str) -> str:
    """Return a text of the file for a message, marked where it is cut."""
    return text if len(text) <= MAX_SAMPLE_CHARACTERS else text[: MAX_SAMPLE_CHARACTERS - len(_CUT)] + _CUT


def find_facts(layout: Layout, rows: ColumnCells) -> ColumnFacts:
    """Return the facts of some rows."""
    found: ColumnFacts = {}
    for index, name, has_effect in list_effects(layout):
        cells = rows.columns[index]
        fact = _find_effect(layout, (index, name, has_effect), rows) if any(cells) else ColumnFact()
        for note, count, first in _list_notes(layout, index, name, rows):
            fact.notes[note] = Note(count, CellSample(rows.lines[first], cut(cells[first])))
        if fact != ColumnFact():
            found[index] = fact
    return found


def _list_notes(layout: Layout, index: int, name: str, rows: ColumnCells) -> Iterator[tuple[str, int, int]]:
    """Yield each note of a column, how many of its cells have it, and the first row that has it."""
    if index in rows.notes:
        notes = rows.notes[index]
        yield from ((note.value, count, notes.index(note)) for note, count in Counter(notes).items() if note)
    elif name in MULTI_COLUMN_FIELDS:
        yield from note_signs(layout.lists, layout.newline, rows.columns[index])


def _find_effect(layout: Layout, column: tuple[int, str, HasEffect], rows: ColumnCells) -> ColumnFact:
    index, name, has_effect = column
    without = []
    for row, cell in enumerate(rows.columns[index]):
        if says_nothing(name, cell):
            continue
        if has_effect(layout, index, partial(_get_cell, rows.columns, row)):
            return ColumnFact(True)
        without.append(row)
    samples = [CellSample(rows.lines[row], cut(rows.columns[index][row])) for row in without[:SAMPLES]]
    return ColumnFact(False, len(without), samples)


def _get_cell(columns: Sequence[Sequence[str]], row: int, column: int) -> str:
    return columns[column][row]


def note_dates(layout: Layout, columns: Sequence[Sequence[str]]) -> dict[int, list[DateNote | None]]:
    """Return the notes of the dates in columns of cells, for `ColumnCells`."""
    notes = {}
    for column in layout.date_columns:
        cells = columns[column.index]
        times = [""] * len(cells) if column.time is None else columns[column.time]
        pairs = [*zip(cells, times, strict=True)]
        known = {pair: read_date_value(column, *pair).note for pair in set(pairs)}
        notes[column.index] = [known[pair] for pair in pairs]
    return notes


def merge_facts(parts: Iterable[ColumnFacts]) -> ColumnFacts:
    """Return the facts of all parts of a file."""
    merged: ColumnFacts = {}
    for part in parts:
        for index, fact in part.items():
            merged[index] = merged[index].merge(fact) if index in merged else fact
    return merged


def encode_facts(facts: ColumnFacts) -> dict[str, Any]:
    """Return the facts as values for JSON."""
    return {
        str(index): {
            "effect": fact.has_effect,
            **({"cells": fact.cells, "samples": fact.samples} if fact.cells else {}),
            **({"notes": {name: (note.count, *note.first) for name, note in fact.notes.items()}} if fact.notes else {}),
        }
        for index, fact in facts.items()
    }


def decode_facts(packed: Mapping[str, Any]) -> ColumnFacts:
    """Return the facts that `encode_facts` returned."""
    return {
        int(index): ColumnFact(
            each["effect"],
            each.get("cells", 0),
            [CellSample(*sample) for sample in each.get("samples", ())],
            {name: Note(count, CellSample(*first)) for name, (count, *first) in each.get("notes", {}).items()},
        )
        for index, each in packed.items()
    }


def write_facts(facts: ColumnFacts) -> str:
    """Return the facts as JSON text."""
    return json.dumps(encode_facts(facts), ensure_ascii=False, separators=(",", ":"))


def read_facts(texts: Iterable[str]) -> Iterator[ColumnFacts]:
    """Yield the facts that `write_facts` wrote."""
    return (decode_facts(json.loads(text)) for text in texts)
