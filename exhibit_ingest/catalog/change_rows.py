"""The changes of a document as rows of a table, one for each changed value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from core.contracts.exhibits import ExhibitHistoryEntry
from exhibit_ingest.printable import shorten_printable

CHANGE_COLUMNS = ("version", "changed_at", "action", "user", "source", "what", "old", "new")
_CHARACTERS = 60
_LINKS = {True: "yes", False: "no"}
_PAGE_SET, _TEXT = "page_set_id", "text_id"


def list_page_sets(entries: Iterable[ExhibitHistoryEntry]) -> set[int]:
    """Return the numbers of the page sets that the documents of the changes had or got."""
    changes = (entry.fields.get(_PAGE_SET, {}) for entry in entries)
    return {int(value) for change in changes for value in change.values() if value}


def describe_entry(entry: ExhibitHistoryEntry, page_counts: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    """Yield a row for each value of the change, and one for a change without any; what repeats is blank.

    `page_counts` has the pages of each page set, by its number, unless an undo has deleted it.
    """
    stated: dict[str, Any] = {
        "version": entry.version,
        "changed_at": entry.model_dump(mode="json", include={"changed_at"})["changed_at"],
        "action": entry.action.value.replace("_", " "),
        "user": shorten_printable(entry.user_id or "", _CHARACTERS),
        "source": _describe_source(entry),
    }
    for values in list(_describe_values(entry, page_counts)) or [("", "", "")]:
        yield {**dict.fromkeys(CHANGE_COLUMNS), **stated, **dict(zip(CHANGE_COLUMNS[-3:], values, strict=True))}
        stated = {}


def _describe_source(entry: ExhibitHistoryEntry) -> str:
    if entry.import_id is None:
        return "request"
    if entry.undo_no is not None:
        return f"undo of import {entry.import_id}"
    return f"import {entry.import_id}, line {entry.line}"


def _describe_values(entry: ExhibitHistoryEntry, page_counts: Mapping[int, int]) -> Iterator[tuple[str, str, str]]:
    kinds: tuple[tuple[str, Mapping[str, Mapping[Any, Any]]], ...] = (
        *(("", entry.fields), ("property ", entry.properties)),
        *(("custodian ", entry.custodians), ("tag ", entry.tags)),
    )
    for kind, changes in kinds:
        for name, change in changes.items():
            if kind == "" and name == _PAGE_SET:
                old, new = (_describe_pages(change[side], page_counts) for side in ("old", "new"))
                yield "pages", old, new
                continue
            if kind == "" and name == _TEXT:
                yield "text of cells", _describe_text(change["old"]), _describe_text(change["new"])
                continue
            what = shorten_printable(f"{kind}{name}", _CHARACTERS)
            yield what, _describe_value(change, "old"), _describe_value(change, "new")


def _describe_pages(page_set: str | int | None, page_counts: Mapping[int, int]) -> str:
    if not page_set:
        return "(none)"
    count = page_counts.get(int(page_set))
    return "(deleted by an undo)" if count is None else f"{count:,}"


def _describe_text(text_id: str | int | None) -> str:
    return f"text {text_id}" if text_id else "(none)"


def _describe_value(change: Mapping[Any, Any], side: str) -> str:
    if side not in change:
        return "(no such property)"
    value = change[side]
    return _LINKS[value] if isinstance(value, bool) else shorten_printable(value or "", _CHARACTERS)
