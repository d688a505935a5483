"""Each change has one activity: after a lost COMMIT, a replay, a deadlock and a refusal, too."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import make_url, text

from shell import activity_log
from shell.api import mutations
from shell.exhibits import case_list
from shell.imports.upload_expiry import expire_uploads
from tests.support.api.client import Client, Reply
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import Matter, get_or_create_case, matter, put_exhibits
from tests.support.faults.commit_proxy import Loss, between_application_and_database
from tests.support.productions.runs import CALLER, ask, cancel, execute

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


@pytest.mark.parametrize("loss", [Loss.ANSWER, Loss.REQUEST])
def test_a_commit_whose_answer_is_lost_has_one_activity(world: World, loss: Loss) -> None:
    with between_application_and_database(make_url(world.environment["DATABASE_URL"])) as proxy:
        # The first COMMIT is that of the claim.
        proxy.lose_next(loss, after=1)
        reply = add_case("One", "k")
        assert proxy.lost == 1
    assert reply.status == 201
    assert rows(world) == [("case.created", "case", reply.json["id"], reply.json["id"], "ada")]


def test_a_retried_transaction_has_one_activity(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    failures, check = [1], activity_log.require_recorded

    def fail_once(transaction: Any) -> None:
        check(transaction)
        if failures and failures.pop():
            transaction.execute(text("SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213"))

    monkeypatch.setattr(mutations, "require_recorded", fail_once)
    assert add_case("One").status == 201
    assert failures == []
    assert [row[0] for row in rows(world)] == ["case.created"]


def test_an_act_that_changes_nothing_has_no_activity(acme: Matter) -> None:
    client, world = acme.client, acme.world
    tags = {"exhibitIds": acme.exhibits, "tags": ["Hot"]}
    assert client.call("DELETE", "/taggings", tags, **{"Idempotency-Key": "a"}).json == {"removed": 0}
    assert rows(world) == []
    custodian = {"case": acme.name, "name": "Ada"}
    for key in ("b", "c"):
        assert client.post("/custodians", custodian, key=key).status == 200
    for key in ("d", "e"):
        assert client.call("PUT", "/devices/7", {"label": "Laptop"}, **{"Idempotency-Key": key}).status == 200
    made = client.post("/imports", {"case": acme.name, "fileName": "a.dat"}).json["id"]
    for key in ("f", "g"):
        assert client.post(f"/imports/{made}/cancel", key=key).status == 200
    assert [row[0] for row in rows(world)] == [
        *("custodian.added", "device.labelled", "import.created", "import.cancelled"),
    ]


def test_a_production_has_an_activity_for_each_request_and_its_end(world: World) -> None:
    case_id = get_or_create_case(world, "Case", "tenant")
    put_exhibits(world, case_id, ["A"])
    kept, undone = ask(), ask()
    cancel(undone)
    cancel(undone)
    execute(kept)
    execute(undone)
    execute(kept)
    assert rows(world) == [
        ("production.created", "production", kept, case_id, CALLER.user_id),
        ("production.created", "production", undone, case_id, CALLER.user_id),
        ("production.cancel_requested", "production", undone, case_id, CALLER.user_id),
        ("production.confirmed", "production", kept, case_id, None),
        ("production.cancelled", "production", undone, case_id, None),
    ]


def test_an_upload_that_expires_and_one_that_was_put_without_a_request_have_activities(world: World) -> None:
    client = Client("acme", "ada")
    made = client.post("/imports", {"case": "One", "fileName": "a.dat"}).json["id"]
    world.query("UPDATE imports SET started_at = NOW(6) - INTERVAL 8 DAY")
    assert expire_uploads(10) == 1
    assert expire_uploads(10) == 0
    imported = world.run(b"Control Number\r\nA-1\r\n")
    [(case_id,)] = world.query("SELECT case_id FROM imports WHERE id = :i", i=imported)
    assert [(row[0], row[2], row[4]) for row in rows(world)] == [
        ("import.created", made, "ada"),
        ("import.expired", made, None),
        ("import.received", imported, None),
        ("import.completed", imported, None),
    ]
    assert rows(world)[-1][3] == case_id
