"""Compare the values of a row with those of the exhibit that it overlays.

Guaranteed: values are compared exactly, in Python. What a row sets together, such as a date and its text, is returned
together if any of it differs, so that the history never combines the values of two imports.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core.exhibit_dates import DATE_FIELDS
from core.exhibit_history import ABSENT, Change, Changes, Key, Kind, Value, describe_fields, restore_columns
from core.imports.overlay import OVERLAID_COLUMNS, OverlaidDocument, PropertyChanges, RowOverlay
from shell.db.column_limits import ColumnLimit
from shell.exhibits.updates import StoredDocument
from shell.imports.rows.coercion import COLUMNS, StorableRow
from shell.utils.document_properties import (
    PropertyChange,
    merge_properties,
    parse_properties,
    serialize_properties,
)


class ValueChanges(NamedTuple):
    """What a row changes besides links, and the values of its exhibit's columns afterwards.

    `stated` is what the row says besides its changes, and the exhibit has already.
    """

    changes: Changes
    columns: Mapping[str, Any]
    properties: str | None
    stated: frozenset[Key] = frozenset()


def compare_values(
    overlay: RowOverlay, row: StorableRow, stored: StoredDocument, limit: ColumnLimit, kept: Collection[str] = ()
) -> tuple[ValueChanges, Sequence[PropertyChange]]:
    """Return what the row changes in the values of its exhibit, and the properties that do not fit.

    The fields `kept` are neither changed nor stated.
    """
    cells, new, before = row.source.cells or (), _read_values(row), stored.document
    given, properties = overlay.find_fields(cells, new, before), overlay.find_properties(cells, new)
    given = {name: value for name, value in given.items() if name not in kept} if kept else given
    merged, dropped = merge_properties(before.properties, *properties, limit, overlay.text_names)
    fields = {name: value for name, value in given.items() if value != before.fields[name]}
    changes = {Key(Kind.FIELD, name): Change(before.fields[name], value) for name, value in fields.items()}
    differing = dict(_compare_properties(before.properties, merged))
    changes |= differing
    stated = _list_stated(given, properties, {each.name for each in dropped})
    if not changes:
        return ValueChanges({}, stored.columns, stored.properties, stated), dropped
    for key in overlay.find_companions(cells, before, properties, changes.keys()):
        if key.kind is Kind.FIELD and key.name in kept:
            continue
        changes.setdefault(key, _repeat(before, key))
    columns = {**stored.columns, **restore_columns(fields, stored.columns["date_precision"])}
    if merged.keys() - before.properties.keys():
        merged = stored.order(merged)
    text = (serialize_properties(merged) if merged else None) if differing else stored.properties
    return ValueChanges(changes, columns, text, stated.difference(changes)), dropped


def list_stated(overlay: RowOverlay, row: StorableRow, stored: StoredDocument) -> frozenset[Key]:
    """Return all that a row says besides links, if its hash proves that the exhibit has its values."""
    cells, same = row.source.cells or (), stored.document
    return _list_stated(overlay.find_fields(cells, same, same), overlay.find_properties(cells, same), ())


def _list_stated(
    given: Mapping[str, str | None], properties: PropertyChanges, dropped: Container[str]
) -> frozenset[Key]:
    names = (*properties.given, *properties.removed)
    kept = (Key(Kind.PROPERTY, name) for name in names if name not in dropped)
    return frozenset([*(Key(Kind.FIELD, name) for name in given), *kept])


def _read_values(row: StorableRow) -> OverlaidDocument:
    values = dict(zip(COLUMNS, row.values, strict=True))
    columns = {name: values[name] for name in OVERLAID_COLUMNS}
    # The form of the history, which always has microseconds.
    dates = {date: f"{value}.000000" for date in DATE_FIELDS if (value := columns[date]) and "." not in value}
    properties = values["document_properties"]
    return OverlaidDocument(describe_fields(columns | dates), parse_properties(properties) if properties else {})


def _compare_properties(stored: Mapping[str, Value], merged: Mapping[str, Value]) -> Iterator[tuple[Key, Change]]:
    if stored == merged:
        return
    for name in stored.keys() | merged.keys():
        old, new = stored.get(name, ABSENT), merged.get(name, ABSENT)
        if old != new:
            yield Key(Kind.PROPERTY, name), Change(old, new)


def _repeat(document: OverlaidDocument, key: Key) -> Change:
    """Return the change of a value that is the same before and after."""
    value = document.fields[key.name] if key.kind is Kind.FIELD else document.properties.get(key.name, ABSENT)
    return Change(value, value)
