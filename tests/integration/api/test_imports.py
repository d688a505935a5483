"""An import as a client goes through it: announce, upload, follow, read what was rejected."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

from tests.support.api.client import Client, Reply
from tests.support.application.driver import World, request_messages

CLIENT = Client()
NAMES = {"case": "Smith v. Jones", "fileName": "production.csv"}
ROWS = b"Control Number,Title\nA-1,Plan\n,No number\nA-1,Again\n"


def put(upload: dict[str, Any], data: bytes) -> None:
    # Without a type urllib says that it is a form, and moto reads it as one.
    headers = {"Content-Type": "text/csv", **upload["headers"]}
    sent = urllib.request.Request(upload["url"], data, headers, method="PUT")  # noqa: S310 - moto's
    with urllib.request.urlopen(sent) as answer:  # noqa: S310 - moto's
        assert answer.status == 200


def read(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - moto's
        return bytes(answer.read())


def notification(world: World, announced: Reply) -> dict[str, Any]:
    """What S3 says of the upload; the bucket of the tests has no notifications."""
    key = world.query("SELECT object_key FROM imports WHERE id = :i", i=announced.json["id"])[0][0]
    return world.notification_of(key)


def test_a_file_is_uploaded_followed_and_accounted_for(world: World) -> None:
    announced = CLIENT.post("/imports", NAMES)
    place = announced.headers["location"]
    assert (announced.status, announced.json["status"]) == (201, "awaiting_upload")
    awaiting = CLIENT.get(place).json
    assert (place, awaiting["status"]) == (f"/imports/{announced.json['id']}", "awaiting_upload")
    assert awaiting["columns"] is None
    put(announced.json["upload"], ROWS)
    world.finish(notification(world, announced))
    state = CLIENT.get(place).json
    assert (state["status"], state["rowsSeen"], state["failureMessage"]) == ("completed_with_rejections", 3, None)
    assert (state["imported"], state["rejected"], state["userId"]) == (1, 2, "ada")
    rejected = CLIENT.get(f"{place}/rejections").json["items"]
    assert [(row["line"], row["code"]) for row in rejected] == [(3, "MISSING_ID"), (4, "DUPLICATE_ID")]
    (listed,) = CLIENT.get("/imports?case=Smith%20v.%20Jones").json["items"]
    assert "reports" not in listed, "lists hold no URLs"
    assert state["reports"]["rejectedRows"] == "rejected_rows.csv"
    assert "://" not in json.dumps(state), "what is polled holds no URLs"
    signed = CLIENT.get(f"{place}/reports").json
    assert signed["report"]["fileName"] == f"Smith v. Jones - import {announced.json['id']} - report.csv"
    reports = {name: signed[name]["url"] for name in state["reports"]}
    assert (
        read(reports["rejectedRows"])
        == b"\xef\xbb\xbfControl Number,Title,ExhibitIngestLine\n,No number,L3\nA-1,Again,L4\n"
    )
    assert read(reports["report"]).decode("utf-8-sig").startswith("line,column,code")
    again = CLIENT.post("/imports", {**NAMES, "options": json.loads(read(reports["options"]))})
    assert again.status == 201, again
    of_dates = ("dateOrder", "timeZone", "timeZoneVersion", "timeColumn", "dateFormat")
    no_date = dict.fromkeys(("looksLike", *of_dates, "separator"))
    assert state["columns"] == [
        {"name": "Control Number", "field": "control_number", "why": "synonym", **no_date},
        {"name": "Title", "field": "title", "why": "synonym", **no_date},
    ]


def test_what_is_kept_of_an_announcement_holds_no_url(world: World) -> None:
    first = CLIENT.post("/imports", NAMES, key="k1").json["upload"]["url"]
    (kept,) = world.query("SELECT response_body FROM idempotency_keys")
    assert "X-Amz" not in kept[0]
    again = CLIENT.post("/imports", NAMES, key="k1")
    assert again.is_replay
    assert again.json["upload"]["url"].partition("?")[0] == first.partition("?")[0]


def test_cancel_and_retry_are_answered_with_the_state(world: World) -> None:
    announced = CLIENT.post("/imports", NAMES)
    put(announced.json["upload"], ROWS)
    place = announced.headers["location"]
    assert CLIENT.post(f"{place}/retry").problem == "wrong-state"
    assert CLIENT.post(f"{place}/cancel").json["status"] == "cancelled"
    world.finish(notification(world, announced))
    assert CLIENT.get(place).json["status"] == "cancelled"
    assert CLIENT.post(f"{place}/retry").json["status"] == "splitting"
    for message in request_messages():
        world.finish(message)
    assert CLIENT.get(place).json["status"] == "completed_with_rejections"
