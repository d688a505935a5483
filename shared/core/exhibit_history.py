"""What one change did to an exhibit, what a row of a file stated with it, and how both are stored.

Guaranteed: `decode_changes` returns exactly what `encode_changes` got, and `decode_stated` what `encode_stated` got; an
absent value, null and an empty text differ.
Not guaranteed: that two names which the database collates as equal are one key.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Any, Final, NamedTuple

from core.exhibit_dates import DATE_FIELDS, NO_PRECISIONS, Precision, change_precisions
from core.exhibit_fields import KEYS, TEXTS

PAGE_SET, TEXT_ID = "page_set_id", "text_id"
# The columns of `exhibits` that a change may set; properties and links have keys of their own.
RECORDED_COLUMNS = (
    *(*KEYS[1:], *TEXTS, *DATE_FIELDS),
    *("document_date_source", "date_precision", "row_hash", PAGE_SET, TEXT_ID),
)
COMPRESSED_FROM_BYTES = 501
_LEVEL = 1
_WHOLE = "whole"
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


class Stated(NamedTuple):
    """What a row of a file states besides what it changes: its value was stored already, and is not repeated.

    A kind of links in `whole` is stated as a whole: the exhibit has those that it had after the entry, and no other.
    """

    keys: frozenset[Key] = frozenset()
    whole: frozenset[Kind] = frozenset()


@dataclass(frozen=True)
class Entry:
    """One row of an exhibit's history.

    `import_id` and `line_no` are those of an overlay. `undo_no` is set, with the import, for an undo of that import.
    `created_at` is the time on the database's clock, in UTC, if the entry is stored. `stated` is None unless a row of a
    file made the change, and where a version of this application wrote it that did not record what rows state.
    """

    version: int
    action: Action
    user_id: str
    changes: Changes
    import_id: int | None = None
    line_no: int | None = None
    undo_no: int | None = None
    created_at: datetime | None = None
    stated: Stated | None = None


def describe_fields(columns: Mapping[str, Any]) -> dict[str, str | None]:
    """Return columns of `exhibits` as fields of the history: text, or None.

    A date is `2019-12-31 23:59:59.000000`, a hash is hexadecimal, the id of a page set or text is decimal.
    `date_precision` becomes one field for each date, such as `document_date_precision`, with its letter or None:
    writers of different dates change different keys.
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
    if name in (PAGE_SET, TEXT_ID):
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
    return compress_document(_ENCODER.encode(describe_changes(changes)))


def compress_document(text: str) -> bytes:
    """Return JSON in the form of `encode_changes`."""
    document = text.encode()
    return document if len(document) < COMPRESSED_FROM_BYTES else zlib.compress(document, _LEVEL)


def _decompress(stored: bytes) -> Any:
    return json.loads(stored if stored.startswith(b"{") else zlib.decompress(stored))


def decode_changes(stored: bytes) -> dict[Key, Change]:
    """Return the changes that `encode_changes` encoded; kinds that a later version adds are left out.

    Raises ValueError for bytes that no version can have written.
    """
    try:
        return dict(_decode(_decompress(stored)))
    except (zlib.error, ValueError, AttributeError, TypeError) as exc:
        raise ValueError("the stored changes of an exhibit are damaged") from exc


def _decode(document: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[tuple[Key, Change]]:
    for section, named in document.items():
        kind = _KINDS.get(section)
        for name, values in named.items():
            if kind is None:
                continue
            change = Change(values.get("old", ABSENT), values.get("new", ABSENT))
            if not values.keys() <= {"old", "new"} or not all(_is_value(kind, value) for value in change):
                raise ValueError(section)
            yield Key(kind, name), change


def _is_value(kind: Kind, value: object) -> bool:
    if kind in (Kind.CUSTODIAN, Kind.TAG):
        return isinstance(value, bool)
    is_text = value is None or isinstance(value, str)
    return is_text or (kind is Kind.PROPERTY and value is ABSENT)


# Most rows of a chunk state the same names, and most histories have the same statements: they are held once.
@lru_cache(maxsize=256)
def encode_stated(stated: Stated) -> bytes:
    """Return what was stated as names by kind, in the form of `encode_changes`; `whole` has the kinds as a whole."""
    found: dict[Kind, list[str]] = {}
    for kind, name in stated.keys:
        found.setdefault(kind, []).append(name)
    # By kind first, which takes half the time of sorting the keys: rows with other empty cells are not cached.
    names = {kind.value: sorted(found[kind]) for kind in sorted(found)}
    if stated.whole:
        names[_WHOLE] = sorted(kind.value for kind in stated.whole)
    return compress_document(_ENCODER.encode(names))


@lru_cache(maxsize=256)
def decode_stated(stored: bytes) -> Stated:
    """Return what `encode_stated` encoded; members and kinds that a later version adds are left out.

    Raises ValueError for bytes that neither can have written.
    """
    try:
        document: dict[str, list[str]] = _decompress(stored)
        keys = frozenset(_share_key(kind, str(name)) for kind in Kind for name in document.get(kind.value, ()))
        return Stated(keys, frozenset(Kind).intersection(document.get(_WHOLE, ())))
    except (zlib.error, ValueError, AttributeError, TypeError) as exc:
        raise ValueError("what a row stated of an exhibit is damaged") from exc


_KINDS = {kind.value: kind for kind in Kind}


@lru_cache(maxsize=4096)
def _share_key(kind: Kind, name: str) -> Key:
    return Key(kind, name)
