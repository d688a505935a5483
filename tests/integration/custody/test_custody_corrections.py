"""Periods are corrected, removed and handed on over HTTP; what is refused changes nothing, and all of it is told.

Who held a device stays known, also where nothing else names him.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import import_chunk
from core.caller import Caller
from shell.custody.commands import add_periods
from shell.db.session import session
from shell.exhibits.commands import add_custodians
from shell.imports.commands import cancel_import
from shell.imports.completion import delete_unused_names
from shell.tables.imports import Imports
from tests.integration.custody.support import CALLER, add, at, overlaps, periods, wanted
from tests.support.api import Client, Reply
from tests.support.cases import matter
from tests.support.database import done
from tests.support.world import World, call

PATH, TRANSFERS, CHANGES = "/custody-periods", "/custody-transfers", "/custody-changes"
ME = Client(CALLER.tenant_id, CALLER.user_id)
STATE = "SELECT p.*, (SELECT COUNT(*) FROM custody_changes) FROM custody_periods AS p ORDER BY id"


def utc(hour: float) -> str:
    """A moment as it is answered."""
    return at(hour).replace("+00:00", "Z")


def period(begin: float, end: float | None, **more: Any) -> int:
    """The id of a recorded period of device 1."""
    return add(wanted(1, begin, end, **more)).items[0].id


def custodian(world: World, name: str) -> int:
    """Somebody who is known."""
    return done(add_custodians, CALLER, matter(world, 1, name=name).exhibits[0], [name]).custodians[0].id


def patch(period_id: int, fields: dict[str, Any], version: int | None = 1) -> Reply:
    return ME.patch(f"{PATH}/{period_id}", fields, version)


def delete(period_id: int, if_match: str | None = '"1"') -> Reply:
    return ME.call("DELETE", f"{PATH}/{period_id}", **({} if if_match is None else {"If-Match": if_match}))


def transfer(hour: float, **more: Any) -> Reply:
    """Device 1 goes on to somebody who is not recorded, and stays there, unless told otherwise."""
    return ME.post(TRANSFERS, {"deviceId": 1, "at": at(hour), "custodianId": None, **more})


def changes() -> list[dict[str, Any]]:
    """All that is told of device 1."""
    return list(ME.get(f"{CHANGES}?deviceId=1").json["items"])


def named(refused: Reply) -> list[int]:
    """The recorded periods that the request's only period overlaps."""
    assert {each["element"] for each in refused.json["conflicts"]} == {0}
    return [each["periodId"] for each in refused.json["conflicts"]]


CHANGED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ended sooner": ({"end": at(11)}, {"end": utc(11)}),
    "extended": ({"end": at(13)}, {"end": utc(13)}),
    "still held": ({"end": None}, {"end": None}),
    "began sooner": ({"begin": at(8)}, {"begin": utc(8)}),
    "began later": ({"begin": at(11.5)}, {"begin": utc(11.5)}),
    "moved": ({"begin": at(12), "end": at(15)}, {"begin": utc(12), "end": utc(15)}),
    "noted": ({"note": "👍"}, {"note": "👍"}),
    "emptied": ({"note": None, "custodianId": None}, {"note": None, "custodianId": None, "custodian": None}),
}


@pytest.mark.parametrize(("fields", "differs"), CHANGED.values(), ids=CHANGED)
def test_what_is_named_is_changed_and_nothing_else(
    way: str, world: World, fields: dict[str, Any], differs: dict[str, Any]
) -> None:
    made = period(9, 12, note="safe", custodianId=custodian(world, "Ann"))
    before = ME.get(f"{PATH}/{made}").json
    reply = patch(made, fields)
    assert (reply.status, reply.json, reply.headers["etag"]) == (200, {**before, **differs, "version": 2}, '"2"')
    assert ME.get(f"{PATH}/{made}").json == reply.json
    kept = {"begin", "end", "custodianId", "note", "version"}
    assert {name: changes()[-1][name] for name in kept} == {name: reply.json[name] for name in kept}


def test_another_custodian_is_told_by_name(way: str, world: World) -> None:
    made, bob = period(9, 12), custodian(world, "Bob")
    assert patch(made, {"custodianId": bob}).json["custodian"] == "Bob"
    refused = patch(made, {"custodianId": 10**9}, 2)
    assert (refused.status, str(10**9) in refused.json["detail"]) == (400, True)
    assert ME.get(f"{PATH}/{made}").json["custodianId"] == bob


def test_a_change_of_nothing_is_a_version_too(way: str, world: World) -> None:
    made = period(9, 12, note="x")
    same = {"note": "x", "end": at(12)}
    assert [patch(made, same, version).json["version"] for version in (1, 2)] == [2, 3]
    assert [(each["version"], each["action"]) for each in changes()] == [(1, "added"), (2, "changed"), (3, "changed")]


def test_what_was_changed_meanwhile_is_not_changed_or_removed(way: str, world: World) -> None:
    made = period(9, 12)
    assert patch(made, {"note": "first"}).status == 200
    before = world.query(STATE)
    refusals = [patch(made, {"note": "second"}), patch(made, {"end": None}, 7), delete(made), delete(made, 'W/"2"')]
    for refused in refusals:
        assert (refused.status, refused.problem, refused.json["currentVersion"]) == (412, "stale-version", 2)
    assert world.query(STATE) == before


def test_a_change_says_of_which_version(way: str, world: World) -> None:
    made = period(9, 12)
    refusals = [patch(made, {"note": "x"}, None), delete(made, None), delete(made, "*"), delete(made, "1")]
    assert [each.status for each in refusals] == [428, 428, 400, 400]
    assert ME.patch(f"{PATH}/{made}", {"note": "x"}, None, **{"If-Match": "*"}).status == 400
    assert world.query("SELECT version FROM custody_periods") == [(1,)]


INTO_NEIGHBOURS: list[tuple[dict[str, Any], list[int]]] = [
    ({"end": at(12.5)}, [1]),
    ({"end": None}, [1, 2]),
    ({"begin": at(8.9)}, [0]),
    ({"begin": at(8), "end": at(20)}, [0, 1, 2]),
    ({"begin": at(15), "end": at(16)}, [2]),
]


def test_a_change_into_neighbours_names_them(way: str, world: World) -> None:
    around = [period(6, 9), period(12, 15), period(15, None)]
    made = period(9, 12)
    before = world.query(STATE)
    for fields, hit in INTO_NEIGHBOURS:
        refused = patch(made, fields)
        assert (refused.status, refused.problem) == (409, "overlap")
        assert named(refused) == [around[number] for number in hit]
    assert world.query(STATE) == before


def test_a_period_goes_on_to_end_after_it_begins(way: str, world: World) -> None:
    made = period(9, 12)
    before = world.query(STATE)
    for fields in ({"end": at(9)}, {"end": at(8)}, {"begin": at(12)}, {"begin": at(13), "end": at(13)}):
        refused = patch(made, fields)
        assert (refused.status, "end must be after begin" in refused.json["detail"]) == (400, True)
    assert world.query(STATE) == before


def test_a_change_that_comes_again_under_its_key_is_made_once(way: str, world: World) -> None:
    made = period(9, 12)
    first, again = (ME.patch(f"{PATH}/{made}", {"note": "x"}, 1, **{"Idempotency-Key": "k"}) for _ in range(2))
    assert (first.is_replay, again.is_replay, again.json) == (False, True, first.json)
    assert world.query("SELECT version FROM custody_periods") == [(2,)]


def test_what_is_removed_is_told_once_and_its_time_is_free(way: str, world: World) -> None:
    made = period(9, 12, note="never was")
    shown = ME.get(f"{PATH}/{made}").json
    removed = delete(made)
    assert (removed.status, removed.json) == (200, shown)
    again = ME.get(f"{PATH}/{made}"), delete(made), patch(made, {"note": "x"})
    assert [each.status for each in again] == [404, 404, 404]
    assert period(9, 12) != made


def test_a_device_is_handed_on(way: str, world: World) -> None:
    ann, bob = custodian(world, "Ann"), custodian(world, "Bob")
    held = period(9, None, custodianId=ann, note="of the first")
    reply = transfer(12, custodianId=bob, note="of the second", fromPeriodId=held)
    ended, begun = reply.json["ended"], reply.json["begun"]
    assert (reply.status, ended["id"], ended["custodian"], begun["custodian"]) == (201, held, "Ann", "Bob")
    assert [(each["begin"], each["end"]) for each in (ended, begun)] == [(utc(9), utc(12)), (utc(12), None)]
    assert [(each["note"], each["version"]) for each in (ended, begun)] == [("of the first", 2), ("of the second", 1)]
    assert [ME.get(f"{PATH}/{each['id']}").json for each in (ended, begun)] == [ended, begun]


def test_a_receiver_may_have_an_end_and_a_holder_may_have_had_one(way: str, world: World) -> None:
    period(9, 12)
    period(15, 18)
    reply = transfer(11, end=at(14.5))
    assert [reply.json[each]["end"] for each in ("ended", "begun")] == [utc(11), utc(14.5)]
    assert transfer(17).json["begun"]["end"] is None
    assert overlaps(world) == []
    assert len(ME.get(f"{PATH}?deviceId=1").json["items"]) == 4


def test_what_nobody_holds_cannot_be_handed_on(way: str, world: World) -> None:
    period(9, 12)
    before = world.query(STATE)
    for hour in (8, 12, 20):
        refused = transfer(hour)
        assert (refused.status, refused.problem) == (409, "wrong-state")
        assert f"device 1 has no holder at {utc(hour)}" in refused.json["detail"]
    assert transfer(10, deviceId=2).problem == "wrong-state"
    assert world.query(STATE) == before
    assert len(world.query("SELECT id FROM devices")) == 1


def test_a_transfer_is_made_once_and_from_the_period_that_was_meant(way: str, world: World) -> None:
    held = period(9, None)
    before = world.query(STATE)
    for refused in (transfer(9), transfer(10, fromPeriodId=held + 1)):
        assert (refused.status, refused.problem) == (409, "wrong-state")
        assert f"period {held}" in refused.json["detail"]
    assert transfer(10, custodianId=10**9).status == 400
    assert world.query(STATE) == before
    body = {"deviceId": 1, "at": at(12), "custodianId": None}
    first, again, other = (ME.post(TRANSFERS, body, key) for key in ("k", "k", "another"))
    assert (first.status, again.is_replay, again.json) == (201, True, first.json)
    assert other.problem == "wrong-state"


def test_a_transfer_into_a_later_period_changes_nothing_at_all(way: str, world: World) -> None:
    period(9, 12)
    later = [period(15, 16), period(20, None)]
    before = world.query(STATE)
    wide: dict[str, Any] = {"end": at(20)}
    for more, hit in (({}, later), (wide, later[:1]), ({"end": at(15.5)}, later[:1])):
        refused = transfer(11, **more)
        assert (refused.status, refused.problem) == (409, "overlap")
        assert named(refused) == hit
    assert world.query(STATE) == before
    assert transfer(11, end=at(15)).status == 201


def test_all_that_was_done_is_told_in_its_order_and_goes_on(way: str, world: World) -> None:
    first = period(9, 12, note="x")
    Client("acme", "bob").patch(f"{PATH}/{first}", {"end": None}, 1)
    second = transfer(11).json["begun"]["id"]
    delete(second)
    third = period(11, 13)
    told = [(each["periodId"], each["version"], each["action"], each["userId"], each["end"]) for each in changes()]
    assert told == [
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
        assert call(import_chunk.lambda_handler, message)


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
    elements = [wanted(1, hour, hour + 1, custodianId=ids[name]) for hour, name in enumerate(("Holds", "Held"))]
    removed = done(add_periods, IMPORTER, periods(*elements)).items[1].id
    assert Client("tenant").call("DELETE", f"{PATH}/{removed}", **{"If-Match": '"1"'}).status == 200
    end(world, import_id)
    assert {row[0] for row in world.query("SELECT name FROM custodians")} == {"Holds", "Held"}
