"""The history of an exhibit as the API lists it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.contracts.exhibits import ExhibitChange
from core.exhibit_history import ABSENT, Action, Change, Key, Kind
from shell.db.session import session
from shell.exhibits.commands import add_custodians, add_taggings, patch_exhibit
from shell.exhibits.history import Author, NewEntry, write_entries
from tests.integration.exhibits.exhibit_requests import CALLER, tagging
from tests.support.api.client import Client
from tests.support.application.driver import World
from tests.support.database.counted_database import done
from tests.support.exhibits.stored_cases import Cases
from tools.openapi import build_document


@pytest.fixture
def exhibit(cases: Cases) -> int:
    return cases.exhibit("A-1", title="Memo")


def listed(exhibit: int, **query: Any) -> list[dict[str, Any]]:
    """All pages."""
    items: list[dict[str, Any]] = []
    page: dict[str, Any] = {"next": ""}
    while page["next"] is not None:
        after = f"&after={page['next']}" if page["next"] else ""
        limit = query.get("limit", 100)
        page = Client("tenant").get(f"/exhibits/{exhibit}/changes?limit={limit}{after}").json
        items += page["items"]
    return items


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 100])
def test_changes_are_listed_newest_first_and_end_with_the_creation(exhibit: int, limit: int) -> None:
    done(patch_exhibit, CALLER, exhibit, frozenset({1}), ExhibitChange(title="Letter"))
    done(add_custodians, CALLER, exhibit, ["Ann"])
    done(add_taggings, CALLER, tagging([exhibit], "Hot"))
    found = listed(exhibit, limit=limit)
    assert [(each["version"], each["action"]) for each in found] == [
        *((4, "tagged"), (3, "custodians_added"), (2, "edited"), (1, "imported")),
    ]
    assert found[2]["fields"] == {"title": {"old": "Memo", "new": "Letter"}}, "the hash is not for clients"
    assert (found[0]["tags"], found[0]["userId"], found[0]["importId"]) == (
        {"Hot": {"old": False, "new": True}},
        "reviewer",
        None,
    )
    assert found[0]["changedAt"].endswith("Z")


def test_the_creation_names_the_import_its_line_and_its_user(world: World) -> None:
    import_id = world.run(b"Control Number,Title\nA-1,Memo\nA-2,Memo\n")
    ((exhibit, line, user),) = world.query(
        "SELECT exhibits.id, line_no, user_id FROM exhibits JOIN imports ON imports.id = import_id "
        "WHERE control_number = 'A-2'"
    )
    (made,) = listed(exhibit)
    assert made["changedAt"] is not None
    assert (made["version"], made["action"], made["undoNo"]) == (1, "imported", None)
    assert (made["importId"], made["line"], made["userId"]) == (import_id, line, user)


def test_a_property_that_was_not_there_has_no_old_value(exhibit: int) -> None:
    changes = {Key(Kind.PROPERTY, "Author"): Change(None, "Ann"), Key(Kind.PROPERTY, "Pages"): Change("5", None)}
    changes[Key(Kind.PROPERTY, "From")] = Change(ABSENT, None)
    with session() as transaction:
        author = Author(Action.OVERLAID, "ada", import_id=7)
        write_entries(transaction, author, [NewEntry(exhibit, 2, changes, line_no=3)])
    found = listed(exhibit)[0]
    properties = {"Author": {"old": None, "new": "Ann"}, "From": {"new": None}, "Pages": {"old": "5", "new": None}}
    assert found["properties"] == properties
    assert (found["action"], found["importId"], found["line"]) == ("overlaid", 7, 3)


def test_a_page_of_long_changes_ends_early(exhibit: int) -> None:
    long = {Key(Kind.PROPERTY, "Body"): Change("x" * 65_000, "\1" * 65_000)}
    with session() as transaction:
        author = Author(Action.OVERLAID, "ada", import_id=7)
        write_entries(transaction, author, [NewEntry(exhibit, version, long) for version in range(2, 22)])
    first = Client("tenant").get(f"/exhibits/{exhibit}/changes?limit=500")
    assert 1 <= len(first.json["items"]) < 10
    assert [each["version"] for each in listed(exhibit, limit=500)] == list(range(21, 0, -1))


def test_no_route_changes_or_deletes_history() -> None:
    """Of the routes of all functions: the document is generated from them."""
    paths = build_document()["paths"]
    about = {path: set(routes) for path, routes in paths.items() if path.endswith("/changes") or "history" in path}
    assert about == {"/exhibits/{exhibitId}/changes": {"get"}}
    assert json.dumps(sorted(paths["/exhibits/{exhibitId}"])) == '["get", "patch"]', "and no exhibit is deleted with it"
