"""A change of a document as rows of the table that `exhibit-ingest history` prints."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from core.contracts.exhibits import ExhibitHistoryEntry
from core.exhibit_history import Action
from exhibit_ingest.catalog.change_rows import CHANGE_COLUMNS, describe_entry, list_page_sets


def entry(**values: Any) -> ExhibitHistoryEntry:
    nothing = dict.fromkeys(("import_id", "line", "undo_no", "tagging_job_id", "user_name")) | {
        kind: {} for kind in KINDS
    }
    made = {"version": 3, "action": Action.OVERLAID, "user_id": "ada", "changed_at": datetime(2026, 11, 24, 1, 2, 3)}
    return ExhibitHistoryEntry(**{**nothing, **made, **values})


KINDS = ("fields", "properties", "custodians", "tags")


def cells(given: ExhibitHistoryEntry) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in CHANGE_COLUMNS) for row in describe_entry(given, {7: 1_632})]


def test_a_change_has_a_row_for_each_value_and_its_writer_once() -> None:
    rows = cells(
        entry(
            import_id=7,
            line=12,
            fields={"title": {"old": "A", "new": None}},
            properties={"Author": {"new": "x"}, "Pages": {"old": "5"}},
            tags={"Hot": {"old": False, "new": True}},
        )
    )
    assert rows == [
        (3, "2026-11-24T01:02:03Z", "overlaid", "ada", "import 7, line 12", "title", "A", ""),
        (*[None] * 5, "property Author", "(no such property)", "x"),
        (*[None] * 5, "property Pages", "5", "(no such property)"),
        (*[None] * 5, "tag Hot", "no", "yes"),
    ]


def test_a_change_without_values_has_a_row_and_names_its_source() -> None:
    (edited,), (undone,) = cells(entry()), cells(entry(import_id=7, undo_no=1, user_id=None, changed_at=None))
    assert edited[2:] == ("overlaid", "ada", "request", "", "", "")
    assert undone[1:5] == (None, "overlaid", "", "undo of import 7")


def test_pages_are_counted_and_their_sets_not_named() -> None:
    changes = ({"old": None, "new": "7"}, {"old": "7", "new": "8"}, {"old": "8", "new": None})
    entries = [entry(fields={"page_set_id": change}) for change in changes]
    assert [row[-3:] for each in entries for row in cells(each)] == [
        ("pages", "(none)", "1,632"),
        ("pages", "1,632", "(deleted by an undo)"),
        ("pages", "(deleted by an undo)", "(none)"),
    ]
    assert list_page_sets(entries) == {7, 8}


def test_a_value_does_not_control_the_terminal_and_is_shortened() -> None:
    ((*_, old, new),) = cells(entry(fields={"title": {"old": "\x1b[2J", "new": "x" * 100}}))
    assert (old, len(new)) == ("\ufffd[2J", 60)
