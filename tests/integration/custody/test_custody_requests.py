"""Periods are recorded over HTTP all or none, no two of a device overlap, and every overlap is named to the client."""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path
from typing import Any

from custody_api import lambda_handler
from tests.integration.custody.support import (
    CALLER,
    ME,
    PERIODS,
    STRANGER,
    THEM,
    TRANSFERS,
    at,
    custodian,
    overlaps,
    utc,
    wanted,
)
from tests.support.api import Client, Reply
from tests.support.world import Context, World

KEPT = "SELECT number, begin_at, end_at FROM custody_periods JOIN devices ON devices.id = device_id ORDER BY 1, 2"


def recorded(*elements: dict[str, Any], by: Client = ME) -> list[dict[str, Any]]:
    """What the API says it has recorded."""
    reply = by.post(PERIODS, list(elements))
    assert reply.status == 201, reply
    return list(reply.json["items"])


def conflicts(reply: Reply) -> list[dict[str, Any]]:
    """Why nothing was recorded."""
    assert (reply.status, reply.problem) == (409, "overlap"), reply
    return sorted(reply.json["conflicts"], key=itemgetter("element", "begin"))


def conflict(element: int, begin: float, end: float | None, **other: int) -> dict[str, Any]:
    """How the response names what an element of device 1 overlaps."""
    told = {"element": element, "deviceId": 1, "begin": utc(begin), "end": None if end is None else utc(end), **other}
    return {name: value for name, value in told.items() if value is not None}


def element(begin: str, end: str | None) -> dict[str, Any]:
    return {"deviceId": 1, "begin": begin, "end": end}


def test_what_is_recorded_is_returned_and_read_back(world: World) -> None:
    ann = custodian(world, "Ann Lee")
    told = recorded(wanted(1, 9, 12, note="from the safe", custodianId=ann), wanted(2, 9, None))
    whole = {"deviceId": 1, "begin": utc(9), "end": utc(12), "custodianId": ann, "custodian": "Ann Lee"}
    least = {"deviceId": 2, "begin": utc(9), "end": None, "custodianId": None, "custodian": None}
    assert told == [
        {"id": told[0]["id"], "version": 1, "note": "from the safe", **whole},
        {"id": told[1]["id"], "version": 1, "note": None, **least},
    ]
    shown = ME.get(f"{PERIODS}/{told[0]['id']}")
    assert (shown.json, shown.headers["etag"]) == (told[0], '"1"')


OVERLAPPING = [(9, 12), (8, 10), (11, 13), (10, 11), (8, 13), (9, 10), (11, 12), (8, None), (11, None), (8, 9.01)]


def test_touching_periods_are_recorded_and_whatever_shares_a_timestamp_is_refused(way: str, world: World) -> None:
    kept = recorded(wanted(1, 9, 12))[0]["id"]
    for begin, end in OVERLAPPING:
        refused = ME.post(PERIODS, [wanted(1, begin, end)])
        assert conflicts(refused) == [conflict(0, 9, 12, periodId=kept)], (begin, end)
    recorded(wanted(1, 15, 18), wanted(1, 12, 15))
    recorded(wanted(1, 8, 9))
    assert [row[1].hour for row in world.query(KEPT)] == [8, 9, 12, 15]
    assert overlaps(world) == []


def test_every_conflict_is_told_with_elements_and_with_what_is_recorded(way: str, world: World) -> None:
    first, second = (each["id"] for each in recorded(wanted(1, 9, 12), wanted(1, 12, 15)))
    refused = ME.post(PERIODS, [wanted(1, 11, 13), wanted(2, 9, 12), wanted(1, 12.5, 16), wanted(1, 16, 17)])
    assert conflicts(refused) == [
        conflict(0, 9, 12, periodId=first),
        conflict(0, 12, 15, periodId=second),
        conflict(2, 11, 13, otherElement=0),
        conflict(2, 12, 15, periodId=second),
    ]
    assert len(world.query(KEPT)) == 2


def test_of_too_many_conflicts_a_part_is_told(world: World) -> None:
    refused = ME.post(PERIODS, [wanted(1, 9, 12)] * 1_000)
    assert len(conflicts(refused)) == 10_000
    assert "more than 10,000 overlaps" in refused.json["detail"]


def test_the_last_timestamps_that_can_be_recorded_are(way: str, world: World) -> None:
    last = recorded(
        element("9998-12-31T23:59:59.999998Z", "9998-12-31T23:59:59.999999Z"),
        element("9998-12-31T23:59:59.999999Z", None),
        element("1000-01-01T00:00:00Z", "1000-01-01T00:00:00.000001Z"),
    )
    assert [each["begin"][:4] for each in last] == ["9998", "9998", "1000"]
    for begin in (utc(9), "9998-12-31T23:59:59.999999Z"):
        assert last[1]["id"] in {each["periodId"] for each in conflicts(ME.post(PERIODS, [element(begin, None)]))}
    refused = ME.post(PERIODS, [element(utc(9), "9999-01-01T00:00Z"), element("9998-12-31T23:30-01:00", None)])
    assert [each["location"] for each in refused.json["errors"]] == ["body/0/end", "body/1/begin"]
    assert len(world.query(KEPT)) == 3


def test_a_microsecond_is_kept_and_decides(way: str, world: World) -> None:
    edges = [f"2026-11-21T15:59:59.{part}Z" for part in ("999997", "999998", "999999")]
    told = recorded(element(*edges[:2]), element(*edges[1:]))
    assert [(each["begin"], each["end"]) for each in told] == [(edges[0], edges[1]), (edges[1], edges[2])]
    refused = ME.post(PERIODS, [element("2026-11-21T15:59:59.999998Z", "2026-11-21T16:00Z")])
    assert [each["periodId"] for each in conflicts(refused)] == [told[1]["id"]]
    assert str(world.query(KEPT)[1][2]) == "2026-11-21 15:59:59.999999"


NOTES = ["👍" * 1_000, "x" * 1_000, "two\r\nlines", r"\' :rows %s %(x)s \u0041 ?", '"', " x ", "\t", "e\u0301"]


def test_notes_come_back_as_they_were_sent(world: World) -> None:
    told = recorded(*(wanted(1, hour, hour + 1, note=note) for hour, note in enumerate(NOTES)))
    assert [each["note"] for each in told] == NOTES
    changes = world.query("SELECT note FROM custody_changes ORDER BY begin_at")
    assert [row[0] for row in changes] == NOTES


def test_a_key_is_kept_by_a_request_that_was_done_and_free_after_one_that_was_refused(world: World) -> None:
    body = [wanted(1, 9, 12), wanted(2, 9, None)]
    first, again = (ME.post(PERIODS, body, "the key") for _ in range(2))
    assert (first.status, first.is_replay) == (201, False)
    assert (again.status, again.is_replay, again.json) == (201, True, first.json)
    told = conflicts(ME.post(PERIODS, body, "another key"))
    assert [each["periodId"] for each in told] == [each["id"] for each in first.json["items"]]
    removed = [ME.call("DELETE", f"{PERIODS}/{each['periodId']}", **{"If-Match": '"1"'}).status for each in told]
    assert (removed, ME.post(PERIODS, body, "another key").status) == ([200, 200], 201)


def test_custodians_of_other_tenants_and_unknown_ones_are_refused_by_their_ids(world: World) -> None:
    mine, theirs = custodian(world, "Ann", CALLER), custodian(world, "Eve", STRANGER)
    refused = ME.post(PERIODS, [wanted(1, n, n + 1, custodianId=who) for n, who in enumerate((theirs, mine, 10**9))])
    assert (refused.status, refused.problem) == (400, "invalid-request")
    assert refused.json["detail"].endswith(
        f"you have no custodians with these ids: {theirs}, {10**9}; list them with GET /custodians"
    )
    assert world.query("SELECT id FROM custody_periods") == world.query("SELECT id FROM custody_changes") == []


def test_another_tenants_device_of_the_same_number_is_another_device(world: World) -> None:
    theirs = recorded(wanted(1, 9, None), by=THEM)[0]["id"]
    mine = recorded(wanted(1, 8, 10))[0]["id"]
    assert mine != theirs
    assert [each["id"] for each in ME.get(f"{PERIODS}?deviceId=1").json["items"]] == [mine]
    assert conflicts(THEM.post(PERIODS, [wanted(1, 10, 11)]))[0]["periodId"] == theirs


def test_another_tenants_period_and_device_are_as_unknown_as_none(world: World) -> None:
    mine = recorded(wanted(1, 9, None))[0]["id"]
    told = set()
    for period in (mine, mine + 1_000):
        path = f"{PERIODS}/{period}"
        replies = THEM.get(path), THEM.patch(path, {"note": "x"}, 1), THEM.call("DELETE", path, **{"If-Match": '"1"'})
        told |= {(each.status, each.json["detail"].replace(str(period), "ID")) for each in replies}
    assert told == {(404, "you have no custody period with id ID")}
    bodies = [{"deviceId": device, "at": at(10), "custodianId": None} for device in (1, 2)]
    refused = [THEM.post(TRANSFERS, body) for body in bodies]
    assert [each.problem for each in refused] == ["wrong-state"] * 2
    assert refused[0].json["detail"].replace("device 1", "device 2") == refused[1].json["detail"]
    for path in (PERIODS, "/custody-changes"):
        assert THEM.get(f"{path}?deviceId=1").json == {"items": [], "next": None}
    assert world.query("SELECT version FROM custody_changes") == [(1,)]


BODIES: list[tuple[Any, str]] = [
    ([], "body"),
    (wanted(1, 9, 12), "body"),
    ([{"deviceId": 1, "begin": at(9)}], "body/0/end"),
    ([wanted(1, 9, 12), {**wanted(1, 12, 13), "deviceId": "1"}], "body/1/deviceId"),
    ([wanted(1, 9, 9)], "body/0"),
    ([wanted(1, 9, 12, note="a\0b")], "body/0/note"),
    ([wanted(1, 9, 12, note="\ud800")], "body/0/note"),
    ([wanted(n, 9, 12) for n in range(1, 1_002)], "body"),
]


def test_a_body_that_is_wrong_is_refused_by_its_place(world: World) -> None:
    for body, where in BODIES:
        refused = ME.post(PERIODS, body)
        assert (refused.status, [each["location"] for each in refused.json["errors"]]) == (400, [where])
    assert world.query("SELECT id FROM devices") == []


def test_the_event_in_events_records_an_evening_and_a_night(world: World) -> None:
    event = Path(__file__).parents[3] / "events" / "custody_api.json"
    assert lambda_handler(json.loads(event.read_text()), Context())["statusCode"] == 201
    assert [(row[0], str(row[1]), str(row[2])) for row in world.query(KEPT)] == [
        (100, "2026-11-20 23:00:00", "2026-11-21 02:30:00"),
        (101, "2026-11-21 03:00:00", "2026-11-21 11:00:00"),
    ]
