"""Scripts of imports in any mode, of edits and of undos, as hypothesis draws them, and a replay in dictionaries."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.support.queried import Queried

NUMBERS = tuple(f"A-{number}" for number in range(1, 7))
# By column: what a cell may hold.
CELLS: Mapping[str, Sequence[str]] = {
    "Title": ("", "one", "two", "Two", "  "),
    "Bates Begin": ("", "N-1", "N-2", "N-3", " N-2"),
    "Parent": ("", *NUMBERS[:4]),
    "Custodian": ("", "Smith", "SMITH;Jones", "Brown"),
    "Tags": ("", "hot", "Hot;cold", "cold"),
    "Date Sent": ("", "2001-01-31", "31 Jan 2001", "2002-02-02 10:00", "no date"),
    "Document Date": ("", "2001-01-31", "2003-03-03 11:00"),
    "Author": ("", "Ann", "Bob"),
    "Pages": ("", "1", "2"),
}
FAMILY_FREE = tuple(name for name in CELLS if name != "Parent")
Key = tuple[str, str]
SENT, DOCUMENT_DATE = ("field", "date_sent"), ("field", "document_date")


@dataclass(frozen=True)
class Load:
    """One import: the bytes of its file and its options."""

    data: bytes
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Edit:
    """A request of a user: `kind` is title, tag, untag or custodian, `value` what it sets, adds or removes."""

    number: str
    kind: str
    value: str


@dataclass(frozen=True)
class Undo:
    """Undo one of the imports before it, counted from the first one."""

    which: int


Step = Load | Edit | Undo


@st.composite
def loads(draw: st.DrawFn, columns: Sequence[str] = tuple(CELLS)) -> Load:
    """An import of up to six rows, with some of the columns, in any mode."""
    options = {
        "mode": draw(st.sampled_from(["append", "overlay", "overlay", "append_overlay"])),
        "blanks": draw(st.sampled_from(["keep", "clear"])),
        "multi_values": draw(st.sampled_from(["merge", "replace"])),
    }
    by_bates = options["mode"] == "overlay" and draw(st.integers(0, 4)) == 0
    key = "Bates Begin" if by_bates else "Control Number"
    chosen = [name for name in columns if name != key and draw(st.booleans())] or ["Title"]
    numbers = draw(st.lists(st.sampled_from(CELLS[key] if by_bates else NUMBERS), min_size=1, max_size=6))
    rows = [[number, *(draw(st.sampled_from(CELLS[name])) for name in chosen)] for number in numbers]
    lines = [",".join(cells) for cells in ([key, *chosen], *rows)]
    given = options | ({"overlay_key": "bates_begin"} if by_bates else {})
    kept = {name: value for name, value in given.items() if options["mode"] != "append" or name == "mode"}
    return Load("\r\n".join([*lines, ""]).encode(), kept)


_EDITS = st.one_of(
    st.builds(Edit, st.sampled_from(NUMBERS), st.just("title"), st.sampled_from(["one", "edited"])),
    st.builds(Edit, st.sampled_from(NUMBERS), st.sampled_from(["tag", "untag"]), st.sampled_from(["hot", "mine"])),
    st.builds(Edit, st.sampled_from(NUMBERS), st.just("custodian"), st.sampled_from(["Smith", "Eve"])),
)


def scripts(undos: bool) -> st.SearchStrategy[list[Step]]:
    """Imports, edits and, if they are wanted, undos of any of them, in any order; without families."""
    imports = loads(FAMILY_FREE)
    others = st.one_of(_EDITS, st.builds(Undo, st.integers(0, 7))) if undos else _EDITS
    return st.lists(st.one_of(imports, imports, others), min_size=2, max_size=12)


@dataclass
class _Document:
    """A document as the replay keeps it: who created it, its first values, and every write since, in order."""

    creator: int
    first: dict[Key, Any]
    writes: list[tuple[int | None, Key, Any, Any]] = field(default_factory=list)

    def fold(self, undone: set[int]) -> dict[Key, Any]:
        """The values that the first ones and the writes leave, of imports that are not undone, and of users."""
        values = dict(self.first)
        seen: set[Key] = set()
        for who, key, old, new in self.writes:
            if who not in undone:
                values[key] = new
            elif key not in seen and key not in values:
                values[key] = old
            seen.add(key)
        return {key: value for key, value in values.items() if value is not None}


class Replay:
    """What a case should hold; an import is what it was seen to change, an edit what its request names."""

    def __init__(self) -> None:
        self.documents: dict[str, _Document] = {}
        self.undone: set[int] = set()

    def observe(self, import_id: int, after: Mapping[str, Mapping[Key, Any]]) -> None:
        """Take over what an import did: `after` are all values of all documents."""
        before = self.expect()
        for number, values in after.items():
            if number not in before:
                self.documents[number] = _Document(import_id, dict(values))
                continue
            keys = values.keys() | before[number].keys()
            changed = {key for key in keys if before[number].get(key) != values.get(key)}
            if values.get(DOCUMENT_DATE, (None,))[-1] == "date_sent" and changed & {SENT, DOCUMENT_DATE}:
                # The one follows from the other.
                changed |= {SENT, DOCUMENT_DATE}
            for key in sorted(changed):
                write = (import_id, key, before[number].get(key), values.get(key))
                self.documents[number].writes.append(write)

    def edit(self, number: str, key: Key, new: Any, *, only_if_there: bool = False) -> None:
        """Take over a request of a user, which counts even if it changes nothing; a removal only where it removes."""
        old = self.expect()[number].get(key)
        if old is not None or not only_if_there:
            self.documents[number].writes.append((None, key, old, new))

    def undo(self, import_id: int) -> None:
        """Take an import back: its documents go unless a write that counts has happened to them."""
        self.undone.add(import_id)
        for number, document in list(self.documents.items()):
            since = [who for who, *_ in document.writes if who not in self.undone]
            if document.creator == import_id and not since:
                del self.documents[number]

    def expect(self) -> dict[str, dict[Key, Any]]:
        """The values of all documents."""
        return {number: document.fold(self.undone) for number, document in self.documents.items()}


def read_values(world: Queried) -> dict[str, dict[Key, Any]]:
    """The values of all documents as stored: fields, properties and links; an absent one is left out.

    What one cell sets together is one value: a date of one import never has the precision or the text of another.
    """
    found = {row.control_number: dict(_list_values(row)) for row in world.query("SELECT * FROM exhibits")}
    for number, kind, name in _list_links(world):
        found[number][kind, name.lower()] = True
    return found


def _list_values(row: Any) -> Iterator[tuple[Key, Any]]:
    properties = json.loads(row.document_properties or "{}")
    document, sent, *_ = list(row.date_precision or "--")
    together = {
        ("field", "bates_begin"): (row.bates_begin, properties.pop("Bates Begin", None)),
        SENT: (row.date_sent, properties.pop("Date Sent", None), sent.strip("-") or None),
        DOCUMENT_DATE: (
            *(row.document_date, properties.pop("Document Date", None), document.strip("-") or None),
            row.document_date_source,
        ),
    }
    yield from ((key, values) for key, values in together.items() if any(values))
    yield from ((("property", name), value) for name, value in properties.items())
    if row.title is not None:
        yield ("field", "title"), row.title


def _list_links(world: Queried) -> Iterator[tuple[str, str, str]]:
    for kind, table, links, key in (
        ("tag", "tags", "taggings", "tag_id"),
        ("custodian", "custodians", "custodian_exhibits", "custodian_id"),
    ):
        statement = (
            f"SELECT e.control_number, n.name FROM {links} AS l JOIN exhibits AS e ON e.id = l.exhibit_id "
            f"JOIN {table} AS n ON n.id = l.{key}"
        )
        yield from ((number, kind, name) for number, name in world.query(statement))
