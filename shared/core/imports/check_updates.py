"""What the rows of an overlay would change: how many documents by column, and examples of old and new values.

Guaranteed: counts are complete; the examples are those of the lowest lines, whatever the order of the chunks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from typing import NamedTuple

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_history import TEXT_ID, Absent, Change, Changes, Key, Kind, Value, precision_field
from core.load_file.layout import Layout
from core.texts.cells import EXTRACTED_TEXT

MAX_EXAMPLES, MAX_CHARACTERS = 100, 200
# They follow from other fields, which are counted.
_DERIVED = frozenset({"row_hash", "document_date_source", *map(precision_field, DATE_FIELDS)})

_TEXT, _STORED = Key(Kind.FIELD, TEXT_ID), "(a text that is stored whole)"


class UpdateExample(NamedTuple):
    """One changed value: the column of the file, or the field that follows from one, and the texts before and after.

    A name that is added has no text before, one that is removed none after. Long texts are cut.
    """

    line: int
    control_number: str
    column: str
    old: str | None
    new: str | None


@dataclass
class Updates:
    """The changes that rows would make: the number of rows by column, and examples in the order of lines."""

    rows: Counter[str] = field(default_factory=Counter)
    examples: list[UpdateExample] = field(default_factory=list)

    def add(self, layout: Layout, line: int, control_number: str, changes: Changes) -> None:
        """Add what a row changes; rows come in the order of their lines."""
        named = sorted(_name_changes(layout, changes), key=lambda each: (each[0], each[1] or "", each[2] or ""))
        self.rows.update({column for column, _, _ in named})
        room = MAX_EXAMPLES - len(self.examples)
        self.examples += (UpdateExample(line, control_number, *each) for each in named[:room])

    def write(self) -> str:
        """Return the changes as JSON text for `read`."""
        return json.dumps({"rows": self.rows, "examples": self.examples}, ensure_ascii=False)

    @classmethod
    def read(cls, text: str | None) -> Updates:
        """Return the changes that `write` wrote; none for None."""
        document = json.loads(text or '{"rows": {}, "examples": []}')
        return cls(Counter(document["rows"]), [UpdateExample(*each) for each in document["examples"]])


def merge_updates(parts: Iterable[Updates]) -> Updates:
    """Return the changes of several chunks together."""
    merged = Updates()
    for part in parts:
        merged.rows += part.rows
        merged.examples = list(islice(merge(merged.examples, part.examples, key=lambda each: each.line), MAX_EXAMPLES))
    return merged


def _name_changes(layout: Layout, changes: Changes) -> Iterator[tuple[str, str | None, str | None]]:
    columns = {field: name for name, field in reversed(list(zip(layout.names, layout.fields, strict=True))) if field}
    # The text of a column that feeds a field is kept as a property too, and counts once.
    fed = {name for name, field in zip(layout.names, layout.fields, strict=True) if field not in (None, EXTRACTED_TEXT)}
    texts = {name for name, field in zip(layout.names, layout.fields, strict=True) if field == EXTRACTED_TEXT}
    for key, change in changes.items():
        if change.old == change.new:
            # Recorded with what is set together with it.
            continue
        if key.kind in (Kind.CUSTODIAN, Kind.TAG):
            name = columns.get(key.kind.value, key.kind.value)
            yield (name, None, _cut(key.name)) if change.new else (name, _cut(key.name), None)
        elif key == _TEXT:
            # What fits the properties is shown as such.
            if not any(each.kind is Kind.PROPERTY and each.name in texts for each in changes):
                yield (
                    columns.get(EXTRACTED_TEXT, key.name),
                    _STORED if change.old else None,
                    _STORED if change.new else None,
                )
        elif not _is_counted_elsewhere(key, fed):
            yield columns.get(key.name, key.name) if key.kind is Kind.FIELD else key.name, *_show(change)


def _is_counted_elsewhere(key: Key, fed: set[str]) -> bool:
    return key.name in (_DERIVED if key.kind is Kind.FIELD else fed)


def _show(change: Change) -> tuple[str | None, str | None]:
    return _cut(change.old), _cut(change.new)


def _cut(value: Value) -> str | None:
    if value is None or isinstance(value, Absent):
        return None
    text = str(value)
    return text if len(text) <= MAX_CHARACTERS else text[: MAX_CHARACTERS - 1] + "…"


def describe_rows(rows: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the columns with their numbers of rows, most rows first."""
    return sorted(rows.items(), key=lambda item: (-item[1], item[0]))
