"""Fold a document over its writes: what the creating row made, then what each import or user that counts set or stated.

The one fold of the models: of overlays, undos and pages of volumes here, and of scripts in tests/support. Nothing of
the application is imported. A document is its values by key, which is a part of the history's JSON and a name in it; a
property or link that the document does not have has no key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

FIELD, PROPERTY, CUSTODIAN, TAG = PARTS = ("fields", "properties", "custodians", "tags")
Key = tuple[str, str]
Value = str | int | bool | None
Document = Mapping[Key, Value]
Changes = Mapping[Key, tuple[Value, Value]]
# Changes with every value; only the history tells the hash that the creating row had.
ROW_HASH: Key = (FIELD, "row_hash")
PAGES: Key = (FIELD, "page_set_id")


@dataclass(frozen=True)
class Write:
    """What an import or, without one, a user states: values by key, and the kinds of links that it says all of."""

    import_id: int | None
    values: Document
    whole: Collection[str] = ()

    def apply(self, document: Document) -> dict[Key, Value]:
        """Return the document after the write."""
        left = {key: value for key, value in document.items() if key[0] not in self.whole and key not in self.values}
        return left | {key: new for key, new in self.values.items() if key[0] == FIELD or new != default(key)}


def fold(created: Document, writes: Iterable[Write], undone: Collection[int] = ()) -> dict[Key, Value]:
    """Return the values that the creating row and the writes of imports that are not undone leave."""
    values = dict(created)
    for write in writes:
        if write.import_id not in undone:
            values = write.apply(values)
    return values


def default(key: Key) -> Value:
    """Return the value of a key that a document lacks; no property has that of one that it lacks."""
    return False if key[0] in (CUSTODIAN, TAG) else "(absent)" if key[0] == PROPERTY else None


def compare(before: Document, after: Document) -> dict[Key, tuple[Value, Value]]:
    """Return the old and new values of all keys that differ."""
    pairs = {key: (before.get(key, default(key)), after.get(key, default(key))) for key in before.keys() | after.keys()}
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}
