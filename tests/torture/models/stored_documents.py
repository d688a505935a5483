"""The documents of a case as they are stored, each with its history.

Nothing of the application is imported here.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.support.database.committed_state import Queried
from tests.torture.models.fold import (
    CUSTODIAN,
    FIELD,
    PAGES,
    PARTS,
    PROPERTY,
    ROW_HASH,
    TAG,
    Document,
    Key,
    Value,
    Write,
    default,
)
from tests.torture.models.overlay_rows import SOURCE
from tests.torture.plans.overlays import OVERLAID_CASE

_CASE = "JOIN cases ON cases.id = e.case_id WHERE tenant_id = :tenant AND cases.name = :case"
_HISTORY = (
    "SELECT h.exhibit_id, h.version, h.action, h.import_id, h.line_no, h.undo_no, h.changes, h.stated "
    f"FROM exhibit_changes AS h JOIN exhibits AS e ON e.id = h.exhibit_id {_CASE} ORDER BY h.exhibit_id, h.version"
)
_DATES = ("document_date", "date_sent")
_EXHIBITS = (
    "SELECT e.id, control_number, import_id, line_no, e.version, title, file_name, bates_begin, document_date, "
    "date_sent, document_date_source, date_precision, LOWER(HEX(row_hash)) AS row_hash, page_set_id, "
    "document_properties "
    f"FROM exhibits AS e {_CASE}"
)
_NUMBERS = f"SELECT e.id, n.bates_begin FROM production_numbers AS n JOIN exhibits AS e ON e.id = n.exhibit_id {_CASE}"
_LINKS = {
    CUSTODIAN: "custodian_exhibits AS l JOIN custodians AS n ON n.id = l.custodian_id",
    TAG: "taggings AS l JOIN tags AS n ON n.id = l.tag_id",
}


class Entry(NamedTuple):
    """A row of history; `changes` are old and new values by key, `undo_no` is that of an undo of the import.

    `stated` are keys that a row of a file names besides those, and `whole` the kinds of links that it says all of.
    """

    version: int
    action: str
    import_id: int | None
    line: int | None
    undo_no: int | None
    changes: Mapping[Key, tuple[Value, Value]]
    stated: frozenset[Key] = frozenset()
    whole: frozenset[str] = frozenset()

    def states(self, key: Key) -> bool:
        """Return whether the entry says something of a key that it does not change."""
        return key not in self.changes and (key in self.stated or key[0] in self.whole)

    def describe_write(self, after: Document) -> Write:
        """Return all that it says of the document that it has left."""
        keys = {*self.changes, *self.stated, *(key for key in after if key[0] in self.whole)}
        return Write(self.import_id, {key: after.get(key, default(key)) for key in keys}, self.whole)


@dataclass
class Stored:
    """A document as it is stored, its history in the order of versions, and the begins of its other ranges."""

    id: int
    control_number: str
    import_id: int
    line: int
    version: int
    values: Document
    entries: list[Entry] = field(default_factory=list)
    numbers: set[str] = field(default_factory=set)

    def list_entries(self, import_id: int, undo_no: int | None = None) -> list[Entry]:
        """Return the changes that an import has made, or one of its undos."""
        return [each for each in self.entries if (each.import_id, each.undo_no) == (import_id, undo_no)]

    @property
    def name(self) -> str:
        """What findings call it."""
        return f"document {self.control_number} ({self.id})"


Case = Mapping[int, Stored]


def read_case(tenant: str, at: Queried, case: str = OVERLAID_CASE) -> dict[int, Stored]:
    """Return the documents of a case by their ids; what is written meanwhile may be missing in a part of them."""
    place = {"tenant": tenant, "case": case}
    found = {row.id: _read(row) for row in at.query(_EXHIBITS, **place)}
    links: dict[int, dict[Key, Value]] = {}
    for part, tables in _LINKS.items():
        statement = f"SELECT e.id, n.name FROM {tables} JOIN exhibits AS e ON e.id = l.exhibit_id {_CASE}"
        for exhibit, name in at.query(statement, **place):
            links.setdefault(exhibit, {})[part, name.lower()] = True
    for exhibit, stored in found.items():
        stored.values = {**stored.values, **links.get(exhibit, {})}
    for exhibit, number in at.query(_NUMBERS, **place):
        if exhibit in found:
            found[exhibit].numbers.add(number)
    for exhibit, version, action, import_id, line, undo_no, changes, stated in at.query(_HISTORY, **place):
        if exhibit in found:
            what = (decode(changes), *_decode_stated(stated))
            found[exhibit].entries.append(Entry(version, action, import_id, line, undo_no, *what))
    return found


def _read(row: Any) -> Stored:
    values: dict[Key, Value] = {(FIELD, name): getattr(row, name) for name in ("title", "file_name", "bates_begin")}
    for position, date in enumerate(_DATES):
        timestamp = getattr(row, date)
        letter = (row.date_precision or "-----")[position]
        values[FIELD, date] = timestamp and timestamp.isoformat(" ", "microseconds")
        values[FIELD, f"{date}_precision"] = None if letter == "-" else letter
    values |= {SOURCE: row.document_date_source, ROW_HASH: row.row_hash, PAGES: row.page_set_id}
    values |= {(PROPERTY, name): value for name, value in json.loads(row.document_properties or "{}").items()}
    return Stored(row.id, row.control_number, row.import_id, row.line_no, row.version, values)


def decode(changes: bytes) -> dict[Key, tuple[Value, Value]]:
    """Return the stored changes by key, names of custodians and tags in lower case."""
    document = parse_changes(changes)
    found = {}
    for part in PARTS:
        for name, values in document.get(part, {}).items():
            key = _name(part, name)
            found[key] = (values.get("old", default(key)), values.get("new", default(key)))
    return found


def _decode_stated(stored: bytes | None) -> tuple[frozenset[Key], frozenset[str]]:
    document = {} if stored is None else parse_changes(stored)
    keys = frozenset(_name(part, name) for part in PARTS for name in document.get(part, ()))
    return keys, frozenset(document.get("whole", ()))


def parse_changes(stored: bytes) -> Any:
    """Return the JSON of a column of the history, which may be compressed."""
    return json.loads(stored if stored.startswith(b"{") else zlib.decompress(stored))


def _name(part: str, name: str) -> Key:
    return part, name.lower() if part in (CUSTODIAN, TAG) else name
