"""Periods are recorded over HTTP all or none, to the microsecond, and every overlap is named to the client."""

from __future__ import annotations

import json
from operator import itemgetter
from pathlib import Path
from typing import Any

from custody_api import lambda_handler
from tests.integration.custody.custody_values import (
    CALLER,
    ME,
    PERIODS,
    STRANGER,
    TRANSFERS,
    at,
    custodian,
    requested_period,
    utc,
)
from tests.support.api.client import Reply
from tests.support.application.driver import Context, World

KEPT = "SELECT number, begin_at, end_at FROM custody_periods JOIN devices ON devices.id = device_id ORDER BY 1, 2"


def recorded(*elements: dict[str, Any]) -> list[dict[str, Any]]:
    """What the API says it has recorded."""
    reply = ME.post(PERIODS, list(elements))
    assert reply.status == 201, reply
    return list(reply.json["items"])


def conflicts(reply: Reply) -> list[dict[str, Any]]:
    """Why nothing was recorded."""
    assert (reply.status, reply.problem) == (409, "overlap"), reply
    return sorted(reply.json["conflicts"], key=itemgetter("element", "begin"))


def conflict(element: int, begin: float, end: float | None, **other: int) -> dict[str, Any]:
    """How the response names what an element of device 1 overlaps."""
    response = {
        "element": element,
        "deviceId": 1,
        "begin": utc(begin),
        "end": None if end is None else utc(end),
        **other,
    }
    return {name: value for name, value in response.items() if value is not None}


def element(begin: str, end: str | None) -> dict[str, Any]:
    return {"deviceId": 1, "begin": begin, "end": end}


def test_what_is_recorded_is_returned_and_read_back(world: World) -> None:
    ann = custodian(world, "Ann Lee")
    response = recorded(requested_period(1, 9, 12, note="from the safe", custodianId=ann), requested_period(2, 9, None))
    whole = {"deviceId": 1, "begin": utc(9), "end": utc(12), "custodianId": ann, "custodian": "Ann Lee"}
    least = {"deviceId": 2, "begin": utc(9), "end": None, "custodianId": None, "custodian": None}
    assert response == [
        {"id": response[0]["id"], "version": 1, "note": "from the safe", **whole},
        {"id": response[1]["id"], "version": 1, "note": None, **least},
    ]
    shown = ME.get(f"{PERIODS}/{response[0]['id']}")
    assert (shown.json, shown.headers["etag"]) == (response[0], '"1"')


def test_every_conflict_is_reported_with_elements_and_the_recorded_period(way: str, world: World) -> None:
    first, second = (each["id"] for each in recorded(requested_period(1, 9, 12), requested_period(1, 12, 15)))
    refused = ME.post(
        PERIODS,
        [
            requested_period(1, 11, 13),
            requested_period(2, 9, 12),
            requested_period(1, 12.5, 16),
            requested_period(1, 16, 17),
        ],
    )
    assert conflicts(refused) == [
        conflict(0, 9, 12, periodId=first),
        conflict(0, 12, 15, periodId=second),
        conflict(2, 11, 13, otherElement=0),
        conflict(2, 12, 15, periodId=second),
    ]
    assert len(world.query(KEPT)) == 2


def test_of_too_many_conflicts_a_part_is_reported(world: World) -> None:
    refused = ME.post(PERIODS, [requested_period(1, 9, 12)] * 1_000)
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
    response = recorded(element(*edges[:2]), element(*edges[1:]))
    assert [(each["begin"], each["end"]) for each in response] == [(edges[0], edges[1]), (edges[1], edges[2])]
    refused = ME.post(PERIODS, [element("2026-11-21T15:59:59.999998Z", "2026-11-21T16:00Z")])
    assert [each["periodId"] for each in conflicts(refused)] == [response[1]["id"]]
    assert str(world.query(KEPT)[1][2]) == "2026-11-21 15:59:59.999999"


NOTES = ["👍" * 1_000, "x" * 1_000, "two\r\nlines", r"\' :rows %s %(x)s \u0041 ?", '"', " x ", "\t", "e\u0301"]


def test_notes_come_back_as_they_were_sent(world: World) -> None:
    response = recorded(*(requested_period(1, hour, hour + 1, note=note) for hour, note in enumerate(NOTES)))
    assert [each["note"] for each in response] == NOTES
    changes = world.query("SELECT note FROM custody_changes ORDER BY begin_at")
    assert [row[0] for row in changes] == NOTES


def test_custodians_of_other_tenants_and_unknown_ones_are_refused_by_their_ids(world: World) -> None:
    mine, theirs = custodian(world, "Ann", CALLER), custodian(world, "Eve", STRANGER)
    kept = recorded(requested_period(2, 9, 12))[0]["id"]
    refusals = {
        f"{theirs}, {10**9}": ME.post(
            PERIODS, [requested_period(1, n, n + 1, custodianId=who) for n, who in enumerate((theirs, mine, 10**9))]
        ),
        f"{10**9}": ME.patch(f"{PERIODS}/{kept}", {"custodianId": 10**9}, 1),
        f"{theirs}": ME.post(TRANSFERS, {"deviceId": 2, "at": at(10), "custodianId": theirs}),
    }
    for ids, refused in refusals.items():
        assert (refused.status, refused.problem) == (400, "invalid-request")
        assert refused.json["detail"].endswith(
            f"you have no custodians with these ids: {ids}; list them with GET /custodians."
        )
    assert [len(world.query(f"SELECT id FROM {table}")) for table in ("custody_periods", "custody_changes")] == [1, 1]


BODIES: list[tuple[Any, str]] = [
    ([], "body"),
    ([{"deviceId": 1, "begin": at(9)}], "body/0/end"),
    ([requested_period(1, 9, 9)], "body/0"),
    ([requested_period(n, 9, 12) for n in range(1, 1_002)], "body"),
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
