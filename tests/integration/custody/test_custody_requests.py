"""Periods are recorded over HTTP all or none, no two of a device overlap, and who is refused is told all of it."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from shell.exhibits.commands import add_custodians
from tests.integration.custody.support import CALLER, STRANGER, at, overlaps, wanted
from tests.support.api import Client, Reply
from tests.support.cases import matter
from tests.support.database import done
from tests.support.world import World

PATH = "/custody-periods"
ME, THEM = Client(CALLER.tenant_id, CALLER.user_id), Client(STRANGER.tenant_id, STRANGER.user_id)
KEPT = "SELECT number, begin_at, end_at FROM custody_periods JOIN devices ON devices.id = device_id ORDER BY 1, 2"


def recorded(*elements: dict[str, Any], by: Client = ME) -> list[dict[str, Any]]:
    """What the API says it has recorded."""
    reply = by.post(PATH, list(elements))
    assert reply.status == 201, reply
    return list(reply.json["items"])


def conflicts(reply: Reply) -> list[dict[str, Any]]:
    """Why nothing was recorded."""
    assert (reply.status, reply.problem) == (409, "overlap"), reply
    return sorted(reply.json["conflicts"], key=itemgetter("element", "begin"))


def conflict(element: int, begin: float, end: float | None, **other: int) -> dict[str, Any]:
    """How the answer tells what an element of device 1 overlaps."""
    told = {"element": element, "deviceId": 1, "begin": utc(begin), "end": None if end is None else utc(end), **other}
    return {name: value for name, value in told.items() if value is not None}


def utc(hour: float) -> str:
    """A moment as it is answered."""
    return at(hour).replace("+00:00", "Z")


def element(begin: str, end: str | None, **more: Any) -> dict[str, Any]:
    return {"deviceId": 1, "begin": begin, "end": end, **more}


def custodian(world: World, name: str, tenant: str = "acme") -> int:
    """Somebody who is known to the tenant."""
    exhibit = matter(world, 1, tenant=tenant).exhibits[0]
    return done(add_custodians, CALLER if tenant == "acme" else STRANGER, exhibit, [name]).custodians[0].id


def test_the_first_period_of_all_is_recorded(way: str, world: World) -> None:
    told = recorded(wanted(1, 9, 12, note="from the safe"))
    assert told == [
        {
            "id": told[0]["id"],
            "deviceId": 1,
            "begin": utc(9),
            "end": utc(12),
            "version": 1,
            "custodianId": None,
            "custodian": None,
            "note": "from the safe",
        }
    ]
    shown = ME.get(f"{PATH}/{told[0]['id']}")
    assert (shown.json, shown.headers["etag"]) == (told[0], '"1"')


def test_touching_periods_are_both_recorded(way: str, world: World) -> None:
    recorded(wanted(1, 12, 15), wanted(1, 9, 12))
    recorded(wanted(1, 15, 18))
    recorded(wanted(1, 8, 9))
    assert len(world.query(KEPT)) == 4
    assert overlaps(world) == []


OVERLAPPING = [(9, 12), (8, 10), (11, 13), (10, 11), (8, 13), (9, 10), (11, 12), (8, None), (11, None), (8, 9.01)]


def test_whatever_shares_a_moment_is_refused(way: str, world: World) -> None:
    kept = recorded(wanted(1, 9, 12))[0]["id"]
    for begin, end in OVERLAPPING:
        refused = ME.post(PATH, [wanted(1, begin, end)])
        assert conflicts(refused) == [conflict(0, 9, 12, periodId=kept)], (begin, end)
    assert [row[1].hour for row in world.query(KEPT)] == [9]


def test_elements_of_one_request_must_not_overlap(way: str, world: World) -> None:
    refused = ME.post(PATH, [wanted(1, 11, 13), wanted(2, 9, 12), wanted(1, 9, 12)])
    assert conflicts(refused) == [conflict(0, 9, 12, otherElement=2)]
    assert world.query("SELECT id FROM custody_periods UNION SELECT id FROM custody_changes") == []


def test_every_conflict_is_told_with_elements_and_with_what_is_recorded(way: str, world: World) -> None:
    first, second = (each["id"] for each in recorded(wanted(1, 9, 12), wanted(1, 12, 15)))
    refused = ME.post(PATH, [wanted(1, 11, 13), wanted(2, 9, 12), wanted(1, 12.5, 16), wanted(1, 16, 17)])
    assert conflicts(refused) == [
        conflict(0, 9, 12, periodId=first),
        conflict(0, 12, 15, periodId=second),
        conflict(2, 11, 13, otherElement=0),
        conflict(2, 12, 15, periodId=second),
    ]
    assert len(world.query(KEPT)) == 2


def test_more_conflicts_than_anybody_reads_are_told_in_part(way: str, world: World) -> None:
    refused = ME.post(PATH, [wanted(1, 9, 12)] * 1_000)
    assert len(conflicts(refused)) == 10_000
    assert "more than 10,000 overlaps" in refused.json["detail"]


def test_one_conflict_keeps_everything_out(way: str, world: World) -> None:
    recorded(*(wanted(device, 9, 12) for device in range(1, 4)))
    state = "SELECT number, version, (SELECT COUNT(*) FROM custody_changes) FROM devices ORDER BY 1"
    before = world.query(KEPT), world.query(state)
    refused = ME.post(PATH, [wanted(2, 12, 13), wanted(1, 11, 13), wanted(3, 12, 13)])
    assert [each["element"] for each in conflicts(refused)] == [1]
    assert (world.query(KEPT), world.query(state)) == before
    recorded(wanted(2, 12, 13), wanted(3, 12, 13))


def test_a_device_that_is_still_held_is_held_from_then_on(way: str, world: World) -> None:
    held = recorded(wanted(1, 9, None))[0]
    assert held["end"] is None
    recorded(wanted(1, 8, 9))
    for later in (wanted(1, 10, 11), element("9998-12-31T23:59:59.999999Z", None), wanted(1, 9, None)):
        assert conflicts(ME.post(PATH, [later])) == [conflict(0, 9, None, periodId=held["id"])]


def test_the_last_moments_that_can_be_recorded_are(way: str, world: World) -> None:
    last = recorded(
        element("9998-12-31T23:59:59.999998Z", "9998-12-31T23:59:59.999999Z"),
        element("9998-12-31T23:59:59.999999Z", None),
        element("1000-01-01T00:00:00Z", "1000-01-01T00:00:00.000001Z"),
    )
    assert [each["begin"][:4] for each in last] == ["9998", "9998", "1000"]
    refused = ME.post(PATH, [element(utc(9), "9999-01-01T00:00Z"), element("9998-12-31T23:30-01:00", None)])
    assert [each["location"] for each in refused.json["errors"]] == ["body/0/end", "body/1/begin"]
    assert len(world.query(KEPT)) == 3


def test_an_hour_that_the_clocks_show_twice_is_two_hours(way: str, world: World) -> None:
    summer, winter = "2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"
    told = recorded(element(summer, winter), element(winter, "2026-10-25T03:30:00+01:00"))
    assert [each["end"] for each in told] == ["2026-10-25T01:30:00Z", "2026-10-25T02:30:00Z"]
    assert conflicts(ME.post(PATH, [element("2026-10-25T02:45:00+02:00", winter)]))[0]["periodId"] == told[0]["id"]
    assert ME.post(PATH, [element(winter, summer)]).status == 400


def test_a_microsecond_is_kept_and_decides(way: str, world: World) -> None:
    edges = [f"2026-11-21T15:59:59.{part}Z" for part in ("999997", "999998", "999999")]
    told = recorded(element(*edges[:2]), element(*edges[1:]))
    assert [(each["begin"], each["end"]) for each in told] == [(edges[0], edges[1]), (edges[1], edges[2])]
    refused = ME.post(PATH, [element("2026-11-21T15:59:59.999998Z", "2026-11-21T16:00Z")])
    assert [each["periodId"] for each in conflicts(refused)] == [told[1]["id"]]
    assert str(world.query(KEPT)[1][2]) == "2026-11-21 15:59:59.999999"


def test_answers_are_in_the_order_of_the_request(way: str, world: World) -> None:
    asked = [(3, 9), (1, 15), (2, 9), (1, 9), (3, 5), (1, 12)]
    told = recorded(*(wanted(device, hour, hour + 1) for device, hour in asked))
    assert [(each["deviceId"], each["begin"]) for each in told] == [(device, utc(hour)) for device, hour in asked]


NOTES = ["👍" * 1_000, "x" * 1_000, "two\r\nlines", r"\' :rows %s %(x)s \u0041 ?", '"', " x ", "\t", "e\u0301"]


def test_notes_come_back_as_they_were_sent(way: str, world: World) -> None:
    told = recorded(*(wanted(1, hour, hour + 1, note=note) for hour, note in enumerate(NOTES)))
    assert [each["note"] for each in told] == NOTES
    changes = world.query("SELECT note FROM custody_changes ORDER BY begin_at")
    assert [row[0] for row in changes] == NOTES


def test_a_request_that_comes_again_does_not_overlap_itself(way: str, world: World) -> None:
    body = [wanted(1, 9, 12), wanted(2, 9, None)]
    first, again = (ME.post(PATH, body, "the key") for _ in range(2))
    assert (first.status, first.is_replay) == (201, False)
    assert (again.status, again.is_replay, again.json) == (201, True, first.json)
    other = ME.post(PATH, body, "another key")
    assert [each["periodId"] for each in conflicts(other)] == [each["id"] for each in first.json["items"]]
    assert len(world.query(KEPT)) == 2


def test_a_key_whose_request_was_refused_is_free(way: str, world: World) -> None:
    period = recorded(wanted(1, 9, 12))[0]["id"]
    assert conflicts(ME.post(PATH, [wanted(1, 11, 13)], "the key"))
    assert ME.call("DELETE", f"{PATH}/{period}", **{"If-Match": '"1"'}).status == 200
    assert ME.post(PATH, [wanted(1, 11, 13)], "the key").status == 201


def test_a_custodian_is_told_by_name(way: str, world: World) -> None:
    ann = custodian(world, "Ann Lee")
    told = recorded(wanted(1, 9, 12, custodianId=ann), wanted(1, 12, 13, custodianId=None), wanted(2, 9, 12))
    assert [(each["custodianId"], each["custodian"]) for each in told] == [(ann, "Ann Lee"), (None, None), (None, None)]


def test_custodians_that_are_none_of_the_tenants_are_refused_by_their_ids(way: str, world: World) -> None:
    mine, theirs = custodian(world, "Ann"), custodian(world, "Eve", "other")
    refused = ME.post(PATH, [wanted(1, n, n + 1, custodianId=who) for n, who in enumerate((theirs, mine, 10**9))])
    assert (refused.status, refused.problem) == (400, "invalid-request")
    assert refused.json["detail"].endswith(
        f"you have no custodians with these ids: {theirs}, {10**9}; list them with GET /custodians"
    )
    assert world.query("SELECT id FROM custody_periods") == world.query("SELECT id FROM custody_changes") == []


def test_another_tenants_device_of_the_same_number_is_another_device(way: str, world: World) -> None:
    theirs = recorded(wanted(1, 9, None), by=THEM)[0]["id"]
    mine = recorded(wanted(1, 8, 10))[0]["id"]
    assert mine != theirs
    assert [each["id"] for each in ME.get(f"{PATH}?deviceId=1").json["items"]] == [mine]
    assert conflicts(THEM.post(PATH, [wanted(1, 10, 11)]))[0]["periodId"] == theirs


def test_another_tenants_period_is_as_unknown_as_none(way: str, world: World) -> None:
    mine = recorded(wanted(1, 9, None))[0]["id"]
    told = set()
    for period in (mine, mine + 1_000):
        path = f"{PATH}/{period}"
        replies = THEM.get(path), THEM.patch(path, {"note": "x"}, 1), THEM.call("DELETE", path, **{"If-Match": '"1"'})
        told |= {(each.status, each.json["detail"].replace(str(period), "ID")) for each in replies}
    assert told == {(404, "you have no custody period with id ID")}
    assert ME.get(f"{PATH}/{mine}").json["version"] == 1


def test_another_tenants_device_is_as_unknown_as_none(way: str, world: World) -> None:
    recorded(wanted(1, 9, None))
    bodies = [{"deviceId": device, "at": at(10), "custodianId": None} for device in (1, 2)]
    refused = [THEM.post("/custody-transfers", body) for body in bodies]
    assert [each.problem for each in refused] == ["wrong-state"] * 2
    assert refused[0].json["detail"].replace("device 1", "device 2") == refused[1].json["detail"]
    for path in (PATH, "/custody-changes"):
        assert THEM.get(f"{path}?deviceId=1").json == {"items": [], "next": None}
    assert len(world.query("SELECT id FROM custody_changes")) == 1


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
        refused = ME.post(PATH, body)
        assert (refused.status, [each["location"] for each in refused.json["errors"]]) == (400, [where])
    assert world.query("SELECT id FROM devices") == []
