"""Each change has one activity: after a lost COMMIT, a replay, a deadlock and a refusal, too."""

from __future__ import annotations

from typing import Any

import pytest

from shell.api import mutations
from shell.exhibits import case_list
from tests.support.api.client import Client, Reply
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import Matter, matter

ROWS = "SELECT action, object_type, object_id, case_id, user_id FROM activities ORDER BY id"


@pytest.fixture
def acme(world: World) -> Matter:
    """A case with two exhibits."""
    return matter(world, 2)


def rows(world: World) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in world.query(ROWS)]


def add_case(name: str, key: str | None = None) -> Reply:
    return Client().post("/cases", {"name": name}, key=key)


def test_a_replayed_request_and_a_refused_one_have_no_activity_of_their_own(world: World) -> None:
    made, again = add_case("One", "k"), add_case("One", "k")
    assert (made.status, again.status, again.is_replay) == (201, 201, True)
    assert add_case("One").status == 409
    assert add_case("Two\t").status == 400
    case_id = made.json["id"]
    assert rows(world) == [("case.created", "case", case_id, case_id, "ada")]


def test_an_effect_that_says_nothing_commits_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new route that forgets its activity fails, instead of leaving a gap."""
    monkeypatch.setattr(case_list, "record_act", lambda *_: None)
    assert add_case("One").status == 500
    assert world.query("SELECT COUNT(*) FROM cases")[0][0] == 0
    monkeypatch.undo()
    monkeypatch.setattr(mutations, "require_recorded", lambda _transaction: None)
    monkeypatch.setattr(case_list, "record_act", lambda *_: None)
    assert add_case("One").status == 201, "the negative control: without the check the gap is not noticed"
    assert rows(world) == []
