"""A change of a document as a line for people, and as rows with all values, as `exhibit-ingest history` prints them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from core.contracts.exhibits import ExhibitHistoryEntry
from core.exhibit_history import Action
from exhibit_ingest.catalog.change_rows import describe_line, describe_values

KINDS = ("fields", "properties", "custodians", "tags")


def entry(**values: Any) -> dict[str, Any]:
    """A change as the API has it."""
    nothing = dict.fromkeys(("import_id", "line", "undo_no", "tagging_job_id", "user_name")) | {
        kind: {} for kind in KINDS
    }
    made = {"version": 3, "action": Action.OVERLAID, "user_id": "ada", "changed_at": datetime(2026, 11, 24, 1, 2, 3)}
    return ExhibitHistoryEntry(**{**nothing, **made, **values}).model_dump(mode="json", by_alias=True)


def list_cells(given: dict[str, Any]) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in describe_values(given)]


def test_a_change_is_one_line_without_fields_of_the_application_and_a_day_is_a_day() -> None:
    given = entry(
        import_id=7,
        line=12,
        user_name="ada@example.com",
        fields={
            "title": {"old": "A", "new": None},
            "date_sent": {"old": None, "new": "2019-12-31 00:00:00.000000"},
            "date_sent_precision": {"old": None, "new": "D"},
            "document_date": {"old": "2019-12-31 00:00:00.000000", "new": "2019-12-31 23:59:00.000000"},
            "document_date_source": {"old": None, "new": "date_sent"},
        },
        properties={"Author": {"new": "x"}, "Pages": {"old": "5"}},
        custodians={"Ann": {"old": False, "new": True}},
        tags={"Hot": {"old": True, "new": False}, "Cold": {"old": True, "new": True}},
    )
    assert describe_line(given) == {
        "when": "2026-11-24 01:02",
        "who": "ada@example.com",
        "what": "overlaid by import 7, line 12: title A → (none); date sent (none) → 2019-12-31;"
        " document date 2019-12-31 → 2019-12-31 23:59:00; Author (none) → x; Pages 5 → (none); custodian Ann added;"
        " tag Hot removed; tag Cold had already",
    }


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"old": None, "new": "7"}, "pages added"),
        ({"old": "7", "new": "8"}, "pages replaced"),
        ({"old": "8", "new": None}, "pages removed"),
    ],
)
def test_pages_are_named_and_not_the_number_of_their_set(change: dict[str, Any], expected: str) -> None:
    assert describe_line(entry(fields={"page_set_id": change}))["what"] == f"overlaid: {expected}"


def test_the_source_of_a_change_is_named() -> None:
    undone = entry(import_id=7, undo_no=1, user_id=None, changed_at=None, action=Action.UNDONE)
    assert describe_line(undone) == {"when": "not known", "who": "", "what": "undo of import 7"}
    assert describe_line(entry(action=Action.EDITED))["what"] == "edited"
    assert list_cells(entry(tagging_job_id=4))[0][4] == "tagging job 4"


def test_all_values_of_a_change_have_rows_and_its_writer_stands_once() -> None:
    rows = list_cells(
        entry(
            import_id=7,
            line=12,
            fields={"title": {"old": "A", "new": None}},
            properties={"Author": {"new": "x"}, "Pages": {"old": "5"}},
            tags={"Hot": {"old": False, "new": True}},
        )
    )
    assert rows == [
        ("3", "2026-11-24 01:02", "overlaid", "ada", "import 7, line 12", "title", "A", ""),
        (*[""] * 5, "property Author", "(no such property)", "x"),
        (*[""] * 5, "property Pages", "5", "(no such property)"),
        (*[""] * 5, "tag Hot", "no", "yes"),
    ]
    assert list_cells(entry())[0][4:] == ("request", "", "", "")


def test_a_value_does_not_control_the_terminal_and_is_shortened() -> None:
    hostile = entry(fields={"title": {"old": "\x1b[2J\u202e", "new": "x" * 100}})
    ((*_, old, new),) = list_cells(hostile)
    assert (old, len(new)) == ("\ufffd[2J\ufffd", 60)
    assert describe_line(hostile)["what"].isprintable()
