"""What one change did to an exhibit, how it is stored, and the value that a set of changes leaves.

Guaranteed: `decode_changes` returns exactly what `encode_changes` got; an absent value, null and an empty text differ;
`fold` returns the value that the live entries leave, as if the others had never been written.
Not guaranteed: that two names which the database collates as equal are one key. `rename` makes them one.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, Final, NamedTuple

from core.exhibit_dates import DATE_FIELDS, NO_PRECISIONS, Precision, change_precisions

PAGE_SET = "page_set_id"
# The columns of `exhibits` that a change may set; properties and links have keys of their own.
RECORDED_COLUMNS = (
    *("bates_begin", "bates_end", "parent_control_number", "title", "file_name", *DATE_FIELDS),
    *("native_path", "text_path", "document_date_source", "date_precision", "row_hash", PAGE_SET),
)
COMPRESSED_FROM_BYTES = 501
_LEVEL = 1
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Action(StrEnum):
    """What a writer did to an exhibit. IMPORTED has no row of history: the exhibit names its import and line."""

    IMPORTED = "imported"
    EDITED = "edited"
    CUSTODIANS_ADDED = "custodians_added"
    TAGGED = "tagged"
    UNTAGGED = "untagged"
    OVERLAID = "overlaid"
    UNDONE = "undone"


class Kind(StrEnum):
    """The part of an exhibit that a key belongs to; the name of its member in the stored JSON."""

    FIELD = "fields"
    PROPERTY = "properties"
    CUSTODIAN = "custodians"
    TAG = "tags"


class Absent(Enum):
    """The value of a property that the exhibit does not have."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
# A text or None for a field, a text, None or ABSENT for a property, and for a link whether it exists.
Value = str | bool | None | Absent


class Key(NamedTuple):
    """A field or property by its name, or a link by the name of its custodian or tag."""

    kind: Kind
    name: str


class Change(NamedTuple):
    """The value of a key before and after a write. Both are equal if a request set what was already stored."""

    old: Value
    new: Value


Changes = Mapping[Key, Change]


@dataclass(frozen=True)
class Entry:
    """One row of an exhibit's history.

    `import_id` and `line_no` are those of an overlay. `undo_no` is set, with the import, for an undo of that import.
    `created_at` is the time on the database's clock, in UTC, if the entry is stored.
    """

    version: int
    action: Action
    user_id: str
    changes: Changes
    import_id: int | None = None
    line_no: int | None = None
    undo_no: int | None = None
    created_at: datetime | None = None


class Folded(NamedTuple):
    """The value of a key after its live entries, and the last of these; None if it has none."""

    value: Value
    last_live: Entry | None


IsLive = Callable[[Entry], bool]


def is_live(entry: Entry, undone_imports: Container[int]) -> bool:
    """Return whether the entry counts: it is not an undo, nor of an import that is being undone or was undone."""
    return entry.undo_no is None and (entry.import_id is None or entry.import_id not in undone_imports)


def fold(entries: Iterable[Entry], key: Key, live: IsLive) -> Folded:
    """Return the value of one key after the live entries. Raises KeyError if no entry names the key."""
    return fold_all((entry for entry in entries if key in entry.changes), live)[key]


def fold_all(entries: Iterable[Entry], live: IsLive) -> dict[Key, Folded]:
    """Return the value of every key that an entry names: the `new` of its last live entry.

    A key without a live entry has the `old` of its first entry. `entries` are all those of one exhibit, in the order
    of their versions. Values are never compared: after A -> B by an import, B -> A and A -> B by a user, the user's B
    stays when the import is undone.
    """
    found: dict[Key, Folded] = {}
    for entry in entries:
        counts = live(entry)
        for key, change in entry.changes.items():
            if counts:
                found[key] = Folded(change.new, entry)
            else:
                found.setdefault(key, Folded(change.old, None))
    return found


def rename(entries: Iterable[Entry], stored_name: Callable[[Key], str]) -> Iterator[Entry]:
    """Yield the entries with the name that `stored_name` returns for each key.

    Names of custodians and tags are stored as they were spelled at the time, and an import's spelling can change later.
    """
    for entry in entries:
        changes = {Key(key.kind, stored_name(key)): change for key, change in entry.changes.items()}
        yield replace(entry, changes=changes)


def describe_fields(columns: Mapping[str, Any]) -> dict[str, str | None]:
    """Return columns of `exhibits` as fields of the history: text, or None.

    A date is `2019-12-31 23:59:59.000000`, a hash is hexadecimal, the id of a page set is decimal. `date_precision`
    becomes one field for each date, such as `document_date_precision`, with its letter or None: writers of different
    dates change different keys.
    """
    fields: dict[str, str | None] = {}
    for name, value in columns.items():
        if name == "date_precision":
            fields.update(_split_precisions(value))
        else:
            fields[name] = _describe(value)
    return fields


def restore_columns(fields: Mapping[str, str | None], date_precision: str | None) -> dict[str, Any]:
    """Return fields of the history as columns of `exhibits`, the reverse of `describe_fields`.

    `date_precision` is the stored value; the letters of dates that `fields` does not name are kept.
    """
    columns = {name: _restore(name, text) for name, text in fields.items() if name not in _DATES_BY_PRECISION}
    letters = {_DATES_BY_PRECISION[name]: text for name, text in fields.items() if name in _DATES_BY_PRECISION}
    if letters:
        changed = {date: Precision(letter or Precision.NONE) for date, letter in letters.items()}
        columns["date_precision"] = change_precisions(date_precision, changed)
    return columns


def compare_fields(
    before: Mapping[str, str | None], after: Mapping[str, str | None], names: Iterable[str]
) -> dict[Key, Change]:
    """Return the changes of these fields, also of those that have the same value before and after."""
    return {Key(Kind.FIELD, name): Change(before[name], after[name]) for name in names}


def precision_field(date: str) -> str:
    """Return the name of the field with the precision of a date."""
    return f"{date}_precision"


_DATES_BY_PRECISION = {precision_field(date): date for date in DATE_FIELDS}


def _split_precisions(letters: str | None) -> dict[str, str | None]:
    known = zip(DATE_FIELDS, letters or NO_PRECISIONS, strict=True)
    return {precision_field(date): None if letter == Precision.NONE else letter for date, letter in known}


def _describe(value: str | datetime | bytes | int | None) -> str | None:
    if isinstance(value, datetime):
        return value.isoformat(" ", "microseconds")
    if isinstance(value, int):
        return str(value)
    return value.hex() if isinstance(value, bytes) else value


def _restore(name: str, text: str | None) -> str | datetime | bytes | int | None:
    if text is None:
        return None
    if name == PAGE_SET:
        return int(text)
    if name in DATE_FIELDS:
        return datetime.fromisoformat(text)
    return bytes.fromhex(text) if name == "row_hash" else text


def describe_changes(changes: Changes) -> dict[str, dict[str, dict[str, str | bool | None]]]:
    """Return the changes by kind and name, each as `{"old": "A", "new": "B"}`; an absent value is left out.

    A kind without a change is left out; names are sorted.
    """
    by_kind: dict[Kind, dict[str, dict[str, str | bool | None]]] = {kind: {} for kind in Kind}
    for (kind, name), change in sorted(changes.items()):
        by_kind[kind][name] = _describe_change(change)
    return {kind.value: named for kind, named in by_kind.items() if named}


def _describe_change(change: Change) -> dict[str, str | bool | None]:
    values: dict[str, str | bool | None] = {}
    if change.old is not ABSENT:
        values["old"] = change.old
    if change.new is not ABSENT:
        values["new"] = change.new
    return values


def encode_changes(changes: Changes) -> bytes:
    """Return the changes as compact JSON in UTF-8, compressed by zlib if that has more than 500 bytes.

    The JSON begins with `{` (0x7B). A zlib stream never does: the lower four bits of its first byte are 8 (RFC 1950,
    section 2.2). Equal changes have equal bytes.
    """
    document = _ENCODER.encode(describe_changes(changes)).encode()
    return document if len(document) < COMPRESSED_FROM_BYTES else zlib.compress(document, _LEVEL)


def decode_changes(stored: bytes) -> dict[Key, Change]:
    """Return the changes that `encode_changes` encoded. Raises ValueError for bytes that it cannot have returned."""
    try:
        document = json.loads(stored if stored.startswith(b"{") else zlib.decompress(stored))
        return dict(_decode(document))
    except (zlib.error, ValueError, AttributeError, TypeError) as exc:
        raise ValueError("the stored changes of an exhibit are damaged") from exc


def _decode(document: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[tuple[Key, Change]]:
    for section, named in document.items():
        kind = Kind(section)
        for name, values in named.items():
            change = Change(values.get("old", ABSENT), values.get("new", ABSENT))
            if not values.keys() <= {"old", "new"} or not all(_is_value(kind, value) for value in change):
                raise ValueError(section)
            yield Key(kind, name), change


def _is_value(kind: Kind, value: object) -> bool:
    if kind in (Kind.CUSTODIAN, Kind.TAG):
        return isinstance(value, bool)
    is_text = value is None or isinstance(value, str)
    return is_text or (kind is Kind.PROPERTY and value is ABSENT)
