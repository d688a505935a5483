"""The changes of a document as rows of a table, one for each changed value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.contracts.exhibits import ExhibitHistoryEntry
from local.printable import shorten_printable

CHANGE_COLUMNS = ("version", "changed_at", "action", "user", "source", "what", "old", "new")
_CHARACTERS = 60
_LINKS = {True: "yes", False: "no"}


def describe_entry(entry: ExhibitHistoryEntry) -> Iterator[dict[str, Any]]:
    """Yield a row for each value of the change, and one for a change without any; what repeats is blank."""
    stated: dict[str, Any] = {
        "version": entry.version,
        "changed_at": entry.model_dump(mode="json", include={"changed_at"})["changed_at"],
        "action": entry.action.value.replace("_", " "),
        "user": shorten_printable(entry.user_id or "", _CHARACTERS),
        "source": _describe_source(entry),
    }
    for values in list(_describe_values(entry)) or [("", "", "")]:
        yield {**dict.fromkeys(CHANGE_COLUMNS), **stated, **dict(zip(CHANGE_COLUMNS[-3:], values, strict=True))}
        stated = {}


def _describe_source(entry: ExhibitHistoryEntry) -> str:
    if entry.import_id is None:
        return "request"
    if entry.undo_no is not None:
        return f"undo of import {entry.import_id}"
    return f"import {entry.import_id}, line {entry.line}"


def _describe_values(entry: ExhibitHistoryEntry) -> Iterator[tuple[str, str, str]]:
    kinds: tuple[tuple[str, Mapping[str, Mapping[Any, Any]]], ...] = (
        *(("", entry.fields), ("property ", entry.properties)),
        *(("custodian ", entry.custodians), ("tag ", entry.tags)),
    )
    for kind, changes in kinds:
        for name, change in changes.items():
            what = shorten_printable(f"{kind}{name}", _CHARACTERS)
            yield what, _describe_value(change, "old"), _describe_value(change, "new")


def _describe_value(change: Mapping[Any, Any], side: str) -> str:
    if side not in change:
        return "(no such property)"
    value = change[side]
    return _LINKS[value] if isinstance(value, bool) else shorten_printable(value or "", _CHARACTERS)
