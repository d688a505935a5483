"""The values of many rows of an overlay and of their exhibits, a key of the history at a time.

Guaranteed: of rows that are regular, the same keys are given, changed, recorded and stated as by `compare_values`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import compress, count
from operator import and_, gt, ne, or_
from types import NoneType
from typing import Any, NamedTuple

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_history import ABSENT, Absent, Key, Kind, Value, precision_field
from core.imports.overlay import OVERLAID_COLUMNS, RowOverlay
from core.load_file.grammar import ASCII_WHITESPACE
from shell.exhibits.updates import KeyedExhibit
from shell.imports.overlays.links import LinkChanges
from shell.imports.rows.coercion import COLUMNS, StorableRow

Mask = list[bool]
_BATES = ("bates_begin", "bates_end")
_KINDS = {str, NoneType, Absent}


class Candidate(NamedTuple):
    """A row, its exhibit, what `select_values` returned of it, and the changes of its links."""

    row: StorableRow
    exhibit: KeyedExhibit
    stored: Sequence[Any]
    links: LinkChanges


@dataclass
class KeyColumn:
    """One key of all rows: which of them give it, the values before and after, and which change or record it."""

    key: Key
    given: Mask
    old: Sequence[Value]
    new: Sequence[Value]
    changed: Mask = field(init=False)
    recorded: Mask = field(init=False)

    def __post_init__(self) -> None:
        """Compare the values."""
        self.changed = list(map(and_, map(ne, self.old, self.new), self.given))
        self.recorded = self.changed

    def list_values(self) -> Iterator[tuple[bool, Value, Value]]:
        """Yield of each row whether it changes the key, and the values."""
        return zip(self.changed, self.old, self.new, strict=True)


class KeyColumns:
    """The keys of the rows of one slice, in the order in which the history has them.

    `irregular` are the indexes of rows for which they do not hold.
    """

    def __init__(self, overlay: RowOverlay, candidates: Sequence[Candidate]) -> None:
        self.candidates, self._overlay = candidates, overlay
        cells = zip(*(each.row.source.cells or () for each in candidates), strict=False)
        self._cells: Sequence[Sequence[str]] = list(cells)
        self._filled = [[bool(cell.strip(ASCII_WHITESPACE)) for cell in column] for column in self._cells]
        self._new = dict(zip(COLUMNS, zip(*(each.row.values for each in candidates), strict=True), strict=True))
        self.stored = dict(
            zip(OVERLAID_COLUMNS, zip(*(each.stored[3:] for each in candidates), strict=True), strict=True)
        )
        self.properties = _parse_all(each.stored[2] for each in candidates)
        self._given_properties = _parse_all(self._new["document_properties"])
        self.irregular: set[int] = set()
        self._following = self._find_following()
        self.fields = {each.key.name: each for each in sorted(self._list_fields(), key=_by_name)}
        self.named = {each.key.name: each for each in sorted(self._list_properties(), key=_by_name)}
        self._find_irregular()
        self._record_companions()
        self.changed = combine((each.changed for each in self.list_keys()), len(candidates))

    def list_keys(self) -> list[KeyColumn]:
        """Return the fields and the properties."""
        return [*self.fields.values(), *self.named.values()]

    def _list_fields(self) -> Iterator[KeyColumn]:
        for name, index in self._overlay.texts.items():
            yield self._build_field(name, self._filled[index], self._new[name])
        for date, index in self._overlay.dates.items():
            filled, letter = self._filled[index], DATE_FIELDS.index(date)
            yield self._build_field(date, filled, list(map(_complete_date, self._new[date])))
            letters = (_pick_letters(each["date_precision"], letter) for each in (self.stored, self._new))
            yield KeyColumn(Key(Kind.FIELD, precision_field(date)), filled, *letters)
            if date == "document_date":
                yield self._build_field("document_date_source", filled, [None] * len(filled))
        if self._following:
            yield from self._list_following()

    def _find_following(self) -> dict[str, Mask]:
        """Return the rows whose document date follows a date that they give, by that date.

        Where the file has document dates, such rows are irregular.
        """
        sources, own = self.stored["document_date_source"], self._overlay.dates.get("document_date")
        following = {
            date: list(map(and_, self._filled[index], (source == date for source in sources)))
            for date, index in self._overlay.dates.items()
        }
        if own is not None:
            for mask in following.values():
                self.note(map(gt, mask, self._filled[own]))
            return {}
        return {date: mask for date, mask in following.items() if any(mask)}

    def _list_following(self) -> Iterator[KeyColumn]:
        """Yield the document date of rows that have given another date which it follows."""
        given = combine(self._following.values(), len(self.candidates))
        sources = self.stored["document_date_source"]
        dates = [self._new[source][n] if given[n] else None for n, source in enumerate(sources)]
        letters = {
            date: _pick_letters(self._new["date_precision"], DATE_FIELDS.index(date)) for date in self._following
        }
        yield self._build_field("document_date", given, list(map(_complete_date, dates)))
        before = _pick_letters(self.stored["date_precision"], 0)
        after = [letters[source][n] if given[n] else None for n, source in enumerate(sources)]
        yield KeyColumn(Key(Kind.FIELD, precision_field("document_date")), given, before, after)
        kept = [source if date is not None else None for source, date in zip(sources, dates, strict=True)]
        yield self._build_field("document_date_source", given, kept)

    def _build_field(self, name: str, given: Mask, new: Sequence[Value]) -> KeyColumn:
        return KeyColumn(Key(Kind.FIELD, name), given, self.stored[name], new)

    def _list_properties(self) -> Iterator[KeyColumn]:
        absent = [ABSENT] * len(self.candidates)
        vacant = {name: index for name, index in self._overlay.properties.items() if name in self._overlay.keys}
        for name, index in (vacant | self._overlay.later).items():
            # The column is a field: a property of its name would be removed, and there is none.
            yield KeyColumn(Key(Kind.PROPERTY, name), self._filled[index], absent, absent)
            self.note(name in stored for stored in self.properties)
        for name, index in self._overlay.properties.items():
            if name not in vacant:
                old, new = ([each.get(name, ABSENT) for each in of] for of in (self.properties, self._given_properties))
                given = list(map(and_, self._filled[index], (value is not ABSENT for value in new)))
                yield KeyColumn(Key(Kind.PROPERTY, name), given, old, new)

    def _find_irregular(self) -> None:
        """Note the rows whose padded keys are properties too, or whose numbers change."""
        for name in self._overlay.keys:
            column = self._cells[self._overlay.properties[name]]
            trimmed = [cell.strip(ASCII_WHITESPACE) for cell in column]
            self.note(map(and_, map(ne, column, trimmed), map(bool, trimmed)))
        for name in _BATES:
            if name in self.fields:
                self.note(self.fields[name].changed)
        for each in self.named.values():
            if not _KINDS.issuperset(map(type, each.old)):
                self.note(type(value) not in _KINDS for value in each.old)

    def note(self, marks: Iterable[bool]) -> None:
        """Note as irregular the rows that are marked."""
        self.irregular.update(compress(count(), marks))

    def _record_companions(self) -> None:
        """Record what a row sets together with what it changes."""
        columns = {each.key: each for each in self.list_keys()}
        own = {name: self._overlay.texts[name] for name in self._overlay.companions if name in self._overlay.texts}
        for name, index in (own | self._overlay.dates).items():
            members = [columns[key] for key in self._overlay.members[name] if key in columns]
            together = self._find_changed(members, self._filled[index])
            following = self._following.get(name)
            if following:
                others = [columns[key] for key in self._overlay.members["document_date"] if key in columns]
                together = list(map(or_, together, self._find_changed(others, following)))
                _record(others, list(map(and_, together, following)))
            _record(members, together)

    def _find_changed(self, columns: Sequence[KeyColumn], rows: Mask) -> Mask:
        """Return which of these rows change any of the keys."""
        return list(map(and_, combine((each.changed for each in columns), len(rows)), rows))


def _record(columns: Sequence[KeyColumn], rows: Mask) -> None:
    """Record the keys in these rows; a property only where it is given."""
    for each in columns if any(rows) else ():
        added = rows if each.key.kind is Kind.FIELD else map(and_, each.given, rows)
        each.recorded = list(map(or_, each.recorded, added))


def _parse_all(stored: Iterable[str | None]) -> list[Mapping[str, Any]]:
    """Return the properties of JSON objects, none for one that there is not."""
    found: list[Mapping[str, Any]] = json.loads(f"[{','.join(each or '{}' for each in stored)}]")
    return found


def _complete_date(value: str | None) -> str | None:
    """Return a date in the form of the history, which always has microseconds."""
    return value if value is None or "." in value else f"{value}.000000"


def _pick_letters(precisions: Iterable[str | None], index: int) -> list[Value]:
    letters = (each[index] if each else None for each in precisions)
    return [None if letter == "-" else letter for letter in letters]


def combine(masks: Iterable[Mask], rows: int) -> Mask:
    """Return which rows any of the masks has."""
    return reduce(lambda one, other: list(map(or_, one, other)), masks, [False] * rows)


def _by_name(column: KeyColumn) -> str:
    return column.key.name
