"""Periods are corrected, removed and transferred over HTTP; what is refused changes nothing, and all of it is recorded.

Who held a device stays known, also where nothing else names them. `test_serial_order.py` asks for all of this
past HTTP, in both ways of locking, and of clients who ask at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.caller import Caller
from shell.custody.commands import add_periods
from shell.db.session import session
from shell.imports.commands import cancel_import
from shell.imports.state.unused_names import delete_unused_names
from shell.tables.imports import Imports
from tests.integration.custody.custody_values import (
    CHANGES,
    ME,
    PERIODS,
    TRANSFERS,
    add,
    at,
    custodian,
    periods,
    requested_period,
    utc,
)
from tests.support.api.client import Client, Reply
from tests.support.application.driver import World
from tests.support.database.counted_database import done

STATE = "SELECT p.*, (SELECT COUNT(*) FROM custody_changes) FROM custody_periods AS p ORDER BY id"


def period(begin: float, end: float | None, **more: Any) -> int:
    """The id of a recorded period of device 1."""
    return add(requested_period(1, begin, end, **more)).items[0].id


def patch(period_id: int, fields: dict[str, Any], version: int | None = 1, **headers: str) -> Reply:
    return ME.patch(f"{PERIODS}/{period_id}", fields, version, **headers)


def delete(period_id: int, if_match: str | None = '"1"') -> Reply:
    return ME.call("DELETE", f"{PERIODS}/{period_id}", **({} if if_match is None else {"If-Match": if_match}))


def transfer(hour: float, **more: Any) -> Reply:
    """Device 1 goes to a custodian who is not recorded, and stays there, unless `more` says otherwise."""
    return ME.post(TRANSFERS, {"deviceId": 1, "at": at(hour), "custodianId": None, **more})


def shown(period_id: int) -> Any:
    """The period as GET returns it."""
    return ME.get(f"{PERIODS}/{period_id}").json


def changes() -> list[dict[str, Any]]:
    """All changes of device 1."""
    return list(ME.get(f"{CHANGES}?deviceId=1").json["items"])


CHANGED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"end": None}, {"end": None}),
    ({"begin": at(12), "end": at(15)}, {"begin": utc(12), "end": utc(15)}),
    ({"note": "👍"}, {"note": "👍"}),
    # A change of nothing is a version too.
    ({"note": "👍", "end": at(15)}, {}),
    ({"note": None, "custodianId": None}, {"note": None, "custodianId": None, "custodian": None}),
]


def test_what_is_named_is_changed_and_nothing_else(world: World) -> None:
    made = period(9, 12, note="safe", custodianId=custodian(world, "Ann"))
    expected = shown(made)
    kept = ("begin", "end", "custodianId", "note", "version")
    for version, (fields, differs) in enumerate(CHANGED, 1):
        reply, expected = patch(made, fields, version), {**expected, **differs, "version": version + 1}
        assert (reply.status, reply.json, reply.headers["etag"]) == (200, expected, f'"{version + 1}"')
        assert shown(made) == expected
        assert {name: changes()[-1][name] for name in kept} == {name: expected[name] for name in kept}


def test_what_was_changed_meanwhile_is_not_changed_or_removed(world: World) -> None:
    made = period(9, 12)
    unsaid = [patch(made, {"note": "x"}, None), delete(made, None), delete(made, "1")]
    assert [each.status for each in unsaid] == [428, 428, 400]
    assert patch(made, {"note": "first"}).status == 200
    before = world.query(STATE)
    refusals = [patch(made, {"note": "second"}), patch(made, {"end": None}, 7), delete(made), delete(made, 'W/"2"')]
    for refused in refusals:
        assert (refused.status, refused.problem, refused.json["currentVersion"]) == (412, "stale-version", 2)
    assert world.query(STATE) == before
    assert delete(made, "*").status == 200, "whichever version"


def test_a_device_is_transferred(world: World) -> None:
    ann, bob = custodian(world, "Ann"), custodian(world, "Bob")
    held = period(9, None, custodianId=ann, note="of the first")
    reply = transfer(12, custodianId=bob, note="of the second", fromPeriodId=held)
    ended, begun = reply.json["ended"], reply.json["begun"]
    assert (reply.status, ended["id"], ended["custodian"], begun["custodian"]) == (201, held, "Ann", "Bob")
    assert [(each["begin"], each["end"]) for each in (ended, begun)] == [(utc(9), utc(12)), (utc(12), None)]
    assert [(each["note"], each["version"]) for each in (ended, begun)] == [("of the first", 2), ("of the second", 1)]
    assert [shown(each["id"]) for each in (ended, begun)] == [ended, begun]


@pytest.mark.usefixtures("world")
def test_an_end_before_the_begin_is_refused_by_the_names_of_the_members() -> None:
    reply = patch(period(9, 12), {"end": at(8)})
    expected = "end must be after begin: a period includes its begin and excludes its end."
    assert (reply.status, reply.json["detail"]) == (400, expected)


def test_a_transfer_that_is_refused_says_who_holds_the_device(world: World) -> None:
    held = period(9, 12)
    begun, other, no_caller = transfer(9), transfer(10, fromPeriodId=held + 1), transfer(12)
    assert [each.problem for each in (begun, other, no_caller)] == ["wrong-state"] * 3
    assert all(f"period {held}" in each.json["detail"].lower() for each in (begun, other))
    assert f"Device 1 has no holder at {utc(12)}" in no_caller.json["detail"]


def test_all_that_was_done_is_reported_in_order(world: World) -> None:
    first = period(9, 12, note="x")
    Client("acme", "bob").patch(f"{PERIODS}/{first}", {"end": None}, 1)
    begun = transfer(11).json["begun"]
    second, removed = begun["id"], delete(begun["id"])
    assert (removed.status, removed.json, ME.get(f"{PERIODS}/{second}").status) == (200, begun, 404)
    third = period(11, 13)
    response = [(each["periodId"], each["version"], each["action"], each["userId"], each["end"]) for each in changes()]
    assert response == [
        (first, 1, "added", "ada", utc(12)),
        (first, 2, "changed", "bob", None),
        (first, 3, "changed", "ada", utc(11)),
        (second, 1, "added", "ada", None),
        (second, 2, "removed", "ada", None),
        (third, 1, "added", "ada", utc(13)),
    ]
    assert all(each["changedAt"].endswith("Z") for each in changes())


IMPORTER = Caller(tenant_id="tenant", user_id="ada")


def complete(world: World, _import_id: int) -> None:
    for message in world.chunk_messages():
        assert world.import_chunk(message)


def cancel(_world: World, import_id: int) -> None:
    """And what a chunk does that finds it cancelled."""
    done(cancel_import, IMPORTER, import_id)
    with session() as forgetting:
        delete_unused_names(forgetting, forgetting.get_one(Imports, import_id))


@pytest.mark.parametrize("end", [complete, cancel])
def test_an_import_keeps_the_names_of_those_who_held_a_device(world: World, end: Callable[[World, int], None]) -> None:
    import_id = world.start(b"Control Number,Custodian\r\nA-1,\r\n")
    names = "SELECT 'Holds' AS name UNION SELECT 'Held' UNION SELECT 'Neither'"
    selected = f"SELECT cases.id, given.name, :i FROM cases JOIN ({names}) AS given"
    world.query(f"INSERT INTO custodians (case_id, name, import_id) {selected}", i=import_id)
    ids = {row[0]: row[1] for row in world.query("SELECT name, id FROM custodians")}
    elements = [
        requested_period(1, hour, hour + 1, custodianId=ids[name]) for hour, name in enumerate(("Holds", "Held"))
    ]
    removed = done(add_periods, IMPORTER, periods(*elements)).items[1].id
    assert Client("tenant").call("DELETE", f"{PERIODS}/{removed}", **{"If-Match": '"1"'}).status == 200
    end(world, import_id)
    assert {row[0] for row in world.query("SELECT name FROM custodians")} == {"Holds", "Held"}
