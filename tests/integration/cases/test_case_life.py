"""A case is renamed, closed, reopened, held and requested to be purged over the API, and each change is recorded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.api.client import Client, Reply
from tests.support.application.driver import World

ACME = Client()
CHANGES = "SELECT kind, user_id, details, note FROM case_changes ORDER BY id"
HOLD = {"hold": {"reason": "Order of 2 March 2026"}}


@pytest.fixture
def case_id(world: World) -> int:
    """The id of a case of the tenant."""
    assert world.bucket
    return int(ACME.post("/cases", {"name": "Smith v. Jones"}).json["id"])


def change(case_id: int, body: dict[str, Any]) -> Reply:
    return ACME.patch(f"/cases/{case_id}", body, ACME.get(f"/cases/{case_id}").json["version"])


def purge(case_id: int, confirm: str = "Smith v. Jones", **more: Any) -> Reply:
    return ACME.post(f"/cases/{case_id}/purge", {"confirm": confirm, **more})


def withdraw(case_id: int) -> Reply:
    return ACME.call("DELETE", f"/cases/{case_id}/purge")


def kinds(world: World) -> list[str]:
    return [row[0] for row in world.query(CHANGES)]


def test_a_new_case_is_open_and_its_list_says_so(world: World, case_id: int) -> None:
    found = ACME.get(f"/cases/{case_id}")
    assert found.headers["etag"] == '"1"'
    assert [found.json[name] for name in ("status", "hold", "purge")] == ["open", None, None]
    assert [each["status"] for each in ACME.get("/cases").json["items"]] == ["open"]
    assert kinds(world) == []


def test_each_change_is_recorded_once_with_its_user(world: World, case_id: int) -> None:
    for body in ({"name": "Smith"}, {"status": "closed"}, {"status": "closed"}, {"status": "open"}, HOLD, HOLD):
        assert change(case_id, body).status == 200
    held = ACME.get(f"/cases/{case_id}").json
    assert (held["name"], held["status"], held["hold"]["reason"]) == ("Smith", "open", HOLD["hold"]["reason"])
    assert held["hold"]["heldBy"] == "ada"
    assert change(case_id, {"hold": None}).json["hold"] is None
    rows = world.query(CHANGES)
    assert [row[0] for row in rows] == ["renamed", "closed", "reopened", "held", "lifted"]
    assert {row[1] for row in rows} == {"ada"}
    assert [row[3] for row in rows] == [None, None, None, HOLD["hold"]["reason"], None]
    assert "Smith" not in "".join(row[2] for row in rows), "names are in one place, where a purge finds them"
    actions = [row[0] for row in world.query("SELECT action FROM activities ORDER BY id")]
    assert actions[1:] == ["case.renamed", "case.closed", "case.reopened", "case.held", "case.lifted"]


def test_a_change_applies_to_the_version_that_was_seen(world: World, case_id: int) -> None:
    assert ACME.patch(f"/cases/{case_id}", {"status": "closed"}, None).status == 428
    assert ACME.patch(f"/cases/{case_id}", {"status": "closed"}, 7).status == 412
    changed = ACME.patch(f"/cases/{case_id}", {"status": "closed"}, 1)
    assert (changed.status, changed.headers["etag"], changed.json["version"]) == (200, '"2"', 2)
    assert ACME.patch(f"/cases/{case_id}", {"status": "open"}, 1).status == 412
    for body in ({}, {"name": None}, {"status": None}, {"status": "purged"}, {"hold": {"reason": " "}}):
        assert ACME.patch(f"/cases/{case_id}", body, 2).status == 400, body
    assert Client(tenant="other").patch(f"/cases/{case_id}", {"status": "open"}, 2).status == 404
    assert kinds(world) == ["closed"]


def test_names_that_cases_have_or_had_are_not_given_to_others(world: World, case_id: int) -> None:
    other = ACME.post("/cases", {"name": "Other"}).json["id"]
    assert change(other, {"name": "Smith v. Jones"}).status == 409
    assert change(case_id, {"name": "Smith"}).status == 200
    assert Client(tenant="other").post("/cases", {"name": "Smith v. Jones"}).status == 201, "another tenant's"
    assert change(other, {"name": "Smith v. Jones"}).status == 409
    assert ACME.post("/cases", {"name": "Smith v. Jones"}).status == 409
    assert ACME.post("/imports", {"case": "Smith v. Jones", "fileName": "a.dat"}).status == 409
    assert [row[0] for row in world.query("SELECT name FROM cases ORDER BY id")] == ["Smith", "Other", "Smith v. Jones"]
    assert change(case_id, {"name": "Smith v. Jones"}).status == 200
    assert [row[0] for row in world.query("SELECT name FROM case_aliases")] == ["Smith"]


def test_a_token_limited_to_cases_gives_no_name_that_it_does_not_have(world: World, case_id: int) -> None:
    limited = Client(cases=("Smith v. Jones",))
    assert limited.patch(f"/cases/{case_id}", {"name": "Smith"}, 1).status == 403
    assert Client(cases=("Another",)).patch(f"/cases/{case_id}", {"name": "Smith"}, 1).status == 404
    assert Client(cases=("Smith v. Jones", "Smith")).patch(f"/cases/{case_id}", {"name": "Smith"}, 1).status == 200
    assert limited.get(f"/cases/{case_id}").status == 404
    assert kinds(world) == ["renamed"]


def test_a_purge_is_confirmed_by_the_name_closes_the_case_and_can_be_withdrawn(world: World, case_id: int) -> None:
    assert purge(case_id, "Smith").status == 400
    requested = purge(case_id, after="2027-01-31")
    assert (requested.status, requested.json["status"], requested.json["purge"]["after"]) == (
        200,
        "closed",
        "2027-01-31",
    )
    assert purge(case_id, after="2027-01-31").status == 200
    assert purge(case_id, after="2027-02-01").json["purge"]["after"] == "2027-02-01"
    assert change(case_id, {"status": "open"}).status == 409
    assert withdraw(case_id).json["purge"] is None
    assert withdraw(case_id).json["status"] == "closed"
    assert change(case_id, {"status": "open"}).status == 200
    assert kinds(world) == ["closed", "purge_requested", "purge_requested", "purge_withdrawn", "reopened"]
    days = [json.loads(row[2]).get("after") for row in world.query(CHANGES) if row[0] == "purge_requested"]
    assert days == ["2027-01-31", "2027-02-01"]


def test_a_hold_refuses_a_purge_and_withdraws_a_requested_one(world: World, case_id: int) -> None:
    assert purge(case_id).status == 200
    held = change(case_id, HOLD).json
    assert (held["status"], held["purge"]) == ("closed", None)
    refused = purge(case_id)
    assert (refused.status, "legal hold" in refused.json["detail"]) == (409, True)
    assert change(case_id, {"hold": None}).status == 200
    assert purge(case_id).status == 200
    assert kinds(world)[2:] == ["purge_withdrawn", "held", "lifted", "purge_requested"]


@pytest.mark.parametrize("status", ["purging", "purged"])
def test_a_case_whose_purge_has_begun_does_not_change_any_more(world: World, case_id: int, status: str) -> None:
    world.query("UPDATE cases SET status = :status", status=status)
    for body in ({"name": "Smith"}, {"status": "open"}, HOLD):
        assert change(case_id, body).status == 409
    assert (purge(case_id).status, withdraw(case_id).status, kinds(world)) == (409, 409, [])


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("imports", {"status": "running"}),
        ("imports", {"status": "undoing"}),
        ("volumes", {"status": "expanding"}),
        ("volumes", {"status": "deleting"}),
        ("productions", {"status": "needs_attention"}),
        ("tagging_jobs", {"status": "running"}),
        ("exports", {"status": "requested"}),
    ],
)
def test_work_that_has_not_ended_is_in_the_way_of_a_purge_and_removals_of_a_hold(
    world: World, case_id: int, table: str, columns: dict[str, str]
) -> None:
    put_work(world, table, case_id, columns["status"])
    refused = purge(case_id)
    assert (refused.status, "has not ended" in refused.json["detail"]) == (409, True)
    removes = columns["status"] in ("undoing", "deleting")
    assert change(case_id, HOLD).status == (409 if removes else 200)


def put_work(world: World, table: str, case_id: int, status: str) -> None:
    """Insert work of a case with this status; what else a row must have is empty."""
    required = world.query(
        "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = DATABASE() "
        "AND table_name = :table AND is_nullable = 'NO' AND column_default IS NULL AND extra = ''",
        table=table,
    )
    empty = {name: 0 if kind in ("int", "bigint", "smallint", "tinyint") else "" for name, kind in required}
    values = {**empty, "tenant_id": "acme", "case_id": case_id, "status": status}
    columns = ", ".join(values)
    world.query(f"INSERT INTO {table} ({columns}) VALUES ({', '.join(f':{name}' for name in values)})", **values)
