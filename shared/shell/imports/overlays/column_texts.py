"""The history and the properties of many rows of an overlay as they are stored, written a key at a time.

Guaranteed: the texts are those of `core.exhibit_history.encode_changes` and `serialize_properties` for the same values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from json.encoder import encode_basestring

from core.exhibit_history import ABSENT, Key, Kind, Stated, Value, encode_stated
from core.row_texts import Part, join_rows
from shell.exhibits.updates import FileColumns
from shell.imports.overlays.column_keys import KeyColumn, KeyColumns, combine
from shell.imports.overlays.links import LinkChanges
from shell.tables.name_kinds import NAME_KINDS
from shell.utils.document_properties import order_properties

_ROW_HASH = Key(Kind.FIELD, "row_hash")
_ADDED, _REMOVED = '{"old":false,"new":true}', '{"old":true,"new":false}'


class ColumnTexts:
    """The texts of the rows of one slice."""

    def __init__(self, keys: KeyColumns) -> None:
        self._keys, self._rows = keys, len(keys.candidates)
        self._old = {each.key: _encode(each.old) for each in keys.list_keys()}
        self._new = {each.key: _encode(each.new) for each in keys.list_keys()}
        self._stated: dict[tuple[object, ...], bytes] = {}

    def write_histories(self) -> list[str]:
        """Return the changes of each row, its links included, as JSON."""
        hashes = [each.exhibit.row_hash for each in self._keys.candidates]
        before = [each.hex() if each else None for each in hashes]
        row_hash = KeyColumn(_ROW_HASH, self._keys.changed, before, [None] * self._rows)
        # Also if it is NULL already: an undo of what made it NULL must see that values were changed since.
        row_hash.recorded = self._keys.changed
        self._old[_ROW_HASH], self._new[_ROW_HASH] = _encode(row_hash.old), _encode(row_hash.new)
        fields = sorted([*self._keys.fields.values(), row_hash], key=lambda each: each.key.name)
        sections = zip(
            self._write_section(Kind.FIELD, fields),
            self._write_section(Kind.PROPERTY, list(self._keys.named.values())),
            (self._write_links(each.links) for each in self._keys.candidates),
            strict=True,
        )
        return [f"{{{','.join(filter(None, row))}}}" for row in sections]

    def _write_section(self, kind: Kind, columns: Sequence[KeyColumn]) -> list[str]:
        parts = [part for column in columns if any(column.recorded) for part in self._write_changes(column)]
        rows = join_rows(parts, self._rows) if parts else [""] * self._rows
        return [f'"{kind.value}":{{{items[:-1]}}}' if items else "" for items in rows]

    def _write_changes(self, column: KeyColumn) -> list[Part]:
        name, old, new = encode_basestring(column.key.name), self._old[column.key], self._new[column.key]
        if all(column.recorded) and "" not in old and "" not in new:
            return [f'{name}:{{"old":', old, ',"new":', new, "},"]
        values = zip(column.recorded, old, new, strict=True)
        return [
            [
                f"{name}:{{{_write_change(before, after)}}}," if is_recorded else ""
                for is_recorded, before, after in values
            ]
        ]

    def _write_links(self, links: LinkChanges) -> str:
        """Return the sections of the links, without the braces around them."""
        sections = []
        for kind in NAME_KINDS:
            named = [(name, _ADDED) for each, _, name in links.added if each is kind]
            named += [(name, _REMOVED) for each, _, name in links.removed if each is kind]
            if named:
                items = ",".join([f"{encode_basestring(name)}:{change}" for name, change in sorted(named)])
                sections.append(f'"{kind.table}":{{{items}}}')
        return ",".join(sections)

    @cached_property
    def is_new_order(self) -> bool:
        """Whether a row adds a property, so that its properties are put in order."""
        columns = self._keys.named.values()
        return any(
            is_changed and old is ABSENT
            for each in columns
            for is_changed, old in zip(each.changed, each.old, strict=True)
        )

    def write_properties(self, files: FileColumns) -> list[str | None]:
        """Return the properties of each row after its changes; notes as irregular the rows that have another order.

        The stored ones are kept where none changes.
        """
        stored = [each.stored[2] for each in self._keys.candidates]
        differing = combine((each.changed for each in self._keys.named.values()), self._rows)
        if not any(differing):
            return stored
        order = self._find_order(files)
        parts = [self._write_property(name) for name in order]
        rows = join_rows(parts, self._rows)
        return [
            f"{{{items[:-2]}}}" if is_new else own for items, is_new, own in zip(rows, differing, stored, strict=True)
        ]

    def _find_order(self, files: FileColumns) -> list[str]:
        """Return all names in an order that the properties of all regular rows have."""
        orders = list(map(tuple, self._keys.properties))
        names = max(set(orders), key=lambda each: (len(each), each))
        if self.is_new_order or not all(_is_within(each, names) for each in set(orders)):
            given = (name for name, each in self._keys.named.items() if any(each.given))
            known = dict.fromkeys([*(name for each in set(orders) for name in each), *given])
            creators = [each.stored[1] for each in self._keys.candidates]
            columns = files.get(creators[0])
            alike = {each for each in set(creators) if files.get(each) == columns}
            names = tuple(order_properties(dict.fromkeys(known), columns))
            self._keys.note(each not in alike for each in creators)
        fitting = {each for each in set(orders) if _is_within(each, names)}
        self._keys.note(each not in fitting for each in orders)
        return list(names)

    def _write_property(self, name: str) -> list[str]:
        column, written = self._keys.named.get(name), encode_basestring(name)
        if column is None:
            values = _encode([each.get(name, ABSENT) for each in self._keys.properties])
        else:
            rows = zip(column.changed, self._old[column.key], self._new[column.key], strict=True)
            values = [new if is_changed else old for is_changed, old, new in rows]
        return [f"{written}: {value}, " if value else "" for value in values]

    def write_statements(self) -> list[bytes]:
        """Return what each row states besides its changes, as it is stored."""
        columns = self._keys.list_keys()
        masks = [
            [given and not recorded for given, recorded in zip(each.given, each.recorded, strict=True)]
            for each in columns
        ]
        names = [each.key for each in columns]
        rows = zip(zip(*masks, strict=True), self._keys.candidates, strict=True)
        return [self._encode_stated(names, row, each.links) for row, each in rows]

    def _encode_stated(self, names: Sequence[Key], row: Sequence[bool], links: LinkChanges) -> bytes:
        key = (row, links.stated, links.whole)
        if key not in self._stated:
            keys = frozenset(name for name, is_stated in zip(names, row, strict=True) if is_stated)
            self._stated[key] = encode_stated(Stated(keys | links.stated, links.whole))
        return self._stated[key]


def _encode(values: Iterable[Value]) -> list[str]:
    """Return each value as JSON, nothing for one that is absent."""
    return [encode_basestring(value) if isinstance(value, str) else "null" if value is None else "" for value in values]


def _write_change(old: str, new: str) -> str:
    return ",".join(filter(None, (old and f'"old":{old}', new and f'"new":{new}')))


def _is_within(names: Sequence[str], order: Sequence[str]) -> bool:
    """Return whether the names are in this order."""
    rest = iter(order)
    return all(name in rest for name in names)
