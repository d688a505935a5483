"""The changes of a document as rows of a table: a line for each change, or a row for each changed value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from exhibit_ingest.catalog.values import format_date, format_time
from exhibit_ingest.printable import shorten_printable
from exhibit_ingest.session.tables import Column

LINE_COLUMNS = (Column("when"), Column("who", least=10), Column("what", least=30))
VALUE_COLUMNS = (
    *(Column("version", is_number=True), Column("when"), Column("action", least=10), Column("who", least=10)),
    *(Column("source", least=12, rank=1), Column("what", least=12), Column("old", least=12), Column("new", least=12)),
)
_IN_LINE, _IN_ROW = 40, 60
_PAGE_SET, _TEXT = "page_set_id", "text_id"
# Fields of the application itself: what they say follows from other fields, or means nothing to people.
_PRECISION = "_precision"
_INTERNAL = ("document_date_source",)
# A set of pages, or a text of cells: its number means nothing to people.
_PARTS = {_PAGE_SET: "pages", _TEXT: "text of cells"}
_ACTIONS = {"imported": "imported", "undone": "undo"}
_DATES = "date"
# As the API has a change.
Change = Mapping[str, Any]
Entry = Mapping[str, Any]


def describe_line(entry: Entry) -> dict[str, str]:
    """Return the change as one line: what was changed, from and to which value."""
    changes = list(_list_changes(entry))
    first = _describe_source(entry)
    return {
        "when": format_time(entry["changedAt"]) or "not known",
        "who": _name_user(entry),
        "what": f"{first}: {'; '.join(changes)}" if changes else first,
    }


def describe_values(entry: Entry) -> Iterator[dict[str, str]]:
    """Yield a row for each value of the change, and one for a change without any; what repeats is blank."""
    stated = {
        "version": str(entry["version"]),
        "when": format_time(entry["changedAt"]),
        "action": entry["action"].replace("_", " "),
        "who": _name_user(entry),
        "source": _describe_origin(entry),
    }
    for values in list(_list_values(entry)) or [("", "", "")]:
        yield {**dict.fromkeys(stated, ""), **stated, **dict(zip(("what", "old", "new"), values, strict=True))}
        stated = dict.fromkeys(stated, "")


def _name_user(entry: Entry) -> str:
    return shorten_printable(entry["userName"] or entry["userId"] or "", _IN_ROW)


def _describe_origin(entry: Entry) -> str:
    if entry["taggingJobId"] is not None:
        return f"tagging job {entry['taggingJobId']}"
    if entry["importId"] is None:
        return "request"
    if entry["undoNo"] is not None:
        return f"undo of import {entry['importId']}"
    return f"import {entry['importId']}, line {entry['line']}"


def _describe_source(entry: Entry) -> str:
    if entry["importId"] is None:
        return str(entry["action"]).replace("_", " ")
    if entry["undoNo"] is not None:
        return _describe_origin(entry)
    return f"{entry['action']} by {_describe_origin(entry)}"


def _list_changes(entry: Entry) -> Iterator[str]:
    """Yield what the change did, for people: without fields of the application itself and what was so before."""
    for name, change in entry["fields"].items():
        if name in _PARTS:
            yield _describe_part(_PARTS[name], change)
        elif not name.endswith(_PRECISION) and name not in _INTERNAL:
            yield _describe_change(name.replace("_", " "), change, is_date=_DATES in name)
    for name, change in entry["properties"].items():
        yield _describe_change(shorten_printable(name, _IN_LINE), change)
    for kind in ("custodians", "tags"):
        for name, change in entry[kind].items():
            sign = "removed" if not change["new"] else "had already" if change["old"] else "added"
            yield f"{kind.removesuffix('s')} {shorten_printable(name, _IN_LINE)} {sign}"


def _describe_part(name: str, change: Change) -> str:
    if not change["old"]:
        return f"{name} added"
    return f"{name} replaced" if change["new"] else f"{name} removed"


def _describe_change(name: str, change: Change, *, is_date: bool = False) -> str:
    old, new = (_describe_side(change, side, is_date=is_date) for side in ("old", "new"))
    return f"{name} stays {new}" if old == new else f"{name} {old} → {new}"


def _describe_side(change: Change, side: str, *, is_date: bool) -> str:
    value = change.get(side)
    if not value:
        return "(none)"
    return shorten_printable(format_date(value) if is_date else value, _IN_LINE)


def _list_values(entry: Entry) -> Iterator[tuple[str, str, str]]:
    for kind, prefix in (("fields", ""), ("properties", "property "), ("custodians", "custodian "), ("tags", "tag ")):
        for name, change in entry[kind].items():
            what = shorten_printable(f"{prefix}{name}", _IN_ROW)
            yield what, _describe_value(change, "old"), _describe_value(change, "new")


def _describe_value(change: Change, side: str) -> str:
    if side not in change:
        return "(no such property)"
    value = change[side]
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shorten_printable(format_date(value or ""), _IN_ROW)
