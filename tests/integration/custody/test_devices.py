"""Devices are found by number and label, with who holds each now; a label is no change of custody."""

from __future__ import annotations

from typing import Any

import pytest

from shell.custody import device_locks
from tests.integration.custody.custody_values import ME, PERIODS, STRANGER, THEM, custodian, requested_period
from tests.support.api.client import TOKENS, Client, Reply, gateway
from tests.support.application.driver import World
from tests.support.database.counted_database import done
from tests.torture.access.calls import ApiRequest, send_through


def label(number: int, text: str | None, by: Client = ME) -> Reply:
    return by.call("PUT", f"/devices/{number}", {"label": text})


def numbers(query: str = "") -> list[int]:
    reply = ME.get(f"/devices{query}")
    assert reply.status == 200, reply
    return [each["deviceId"] for each in reply.json["items"]]


def test_a_device_has_its_holder_its_periods_and_its_last_change(world: World) -> None:
    ann = custodian(world, "Ann Lee")
    assert ME.get("/devices").json == {"items": [], "next": None}
    held = requested_period(1, -24 * 365, -24 * 364), requested_period(1, -24, None, custodianId=ann)
    for each in (*held, requested_period(2, -48, -24), requested_period(3, -24, 24 * 365 * 70)):
        assert ME.post(PERIODS, [each]).status == 201
    label(4, "Ann's laptop, asset 100")
    first, second, third, fourth = ME.get("/devices").json["items"]
    [(changed,)] = world.query("SELECT MAX(changed_at) FROM custody_changes WHERE device_id = 1")
    assert first == {
        "deviceId": 1,
        "label": None,
        "isHeld": True,
        "since": "2026-11-20T00:00:00Z",
        "holderId": ann,
        "holder": "Ann Lee",
        "periods": 2,
        "lastChangeAt": changed.isoformat() + "Z",
    }
    assert (second["isHeld"], second["since"], second["periods"]) == (False, None, 1)
    assert (third["isHeld"], third["holder"]) == (True, None)
    assert (fourth["label"], fourth["periods"], fourth["lastChangeAt"]) == ("Ann's laptop, asset 100", 0, None)


def test_every_word_is_part_of_the_label_or_begins_the_number(world: World) -> None:
    for number, text in ((100, "Ada's laptop"), (1001, "Bob's phone, asset 100"), (7, "ADA'S PHONE 50%"), (8, None)):
        label(number, text)
    searches = {"100": [100, 1001], "phone": [7, 1001], "ada phone": [7], "50%25": [7], "9": [], "phone 10": [1001]}
    assert {each: numbers(f"?search={each.replace(' ', '+')}") for each in searches} == searches
    page = ME.get("/devices?limit=3").json
    assert [each["deviceId"] for each in page["items"]] == [7, 8, 100]
    assert numbers(f"?limit=3&after={page['next']}") == [1001]


def test_a_label_is_the_last_one_and_changes_no_version(world: World) -> None:
    assert ME.post(PERIODS, [requested_period(1, 9, 12)]).status == 201
    version = "SELECT version, label FROM devices"
    [(before, _)] = world.query(version)
    for text in ("One", "Two", "Two", "TWO", None):
        assert label(1, text).json["label"] == text
    assert [tuple(row) for row in world.query(version)] == [(before, None)]
    acts = world.query("SELECT action, summary FROM activities WHERE action = 'device.labelled'")
    assert [tuple(row) for row in acts] == [("device.labelled", "{}")] * 4
    for wrong in ("", " x", "a\tb", "x" * 256):
        assert label(1, wrong).status == 400, wrong


def test_tenants_have_devices_of_their_own(world: World) -> None:
    label(1, "Ours")
    label(1, "Theirs", THEM)
    assert [each["label"] for each in ME.get("/devices").json["items"]] == ["Ours"]
    assert [each["label"] for each in THEM.get("/devices").json["items"]] == ["Theirs"]
    assert STRANGER.tenant_id == THEM.tenant


@pytest.mark.parametrize("method", ["GET /devices", "PUT /devices/{deviceId}"])
def test_a_caller_limited_to_cases_is_refused(world: World, method: str) -> None:
    token = TOKENS.issue("acme", "ada", cases=["Case"])
    values: dict[str, Any] = {"path:deviceId": 1, "body:label": "x"} if method[0] == "P" else {}
    reply = send_through(gateway(), ApiRequest(method, values), [f"Bearer {token}"])
    assert reply.status == 403
    assert world.query("SELECT COUNT(*) FROM devices")[0][0] == 0


def test_a_label_beside_a_change_of_custody_makes_neither_fail(world: World, way: str) -> None:
    """The version is that of the periods: a label between the two reads of a request does not make it stale."""
    assert ME.post(PERIODS, [requested_period(1, 9, 12)]).status == 201

    def label_meanwhile(transaction: Any) -> None:
        with device_locks.exclusive_devices(transaction, "acme", [1]):
            if way == "optimistic":
                assert label(1, "Meanwhile").status == 200

    done(label_meanwhile)
