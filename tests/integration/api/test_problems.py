"""Every error is a problem document that says what to do, and nothing of what was met."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.api.conftest import Matter
from tests.support.api.client import Reply


def refused(reply: Reply, status: int, name: str) -> dict[str, Any]:
    """The problem document, having checked its shape."""
    assert (reply.status, reply.problem) == (status, name), reply
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json["status"] == status
    assert reply.json["title"]
    assert reply.json["detail"]
    return dict(reply.json)


WRONG = {
    "/exhibits": "query",
    "/exhibits?case=x&limit=0": "query/limit",
    "/exhibits?case=x&limit=501": "query/limit",
    "/exhibits?case=x&limit=1&limit=2": "query/limit",
    "/exhibits?case=x&limit=1_0": "query/limit",
    "/exhibits?case=x&case=": "query/case",
    "/exhibits?case=": "query/case",
    "/exhibits/0": "path/exhibitId",
    "/exhibits/abc": "path/exhibitId",
    "/exhibits/9007199254740992": "path/exhibitId",
}


def test_a_parameter_that_is_wrong_is_named(acme: Matter) -> None:
    for path, where in WRONG.items():
        problem = refused(acme.client.get(path), 400, "invalid-request")
        assert [error["location"] for error in problem["errors"]] == [where], path
    for path in ("/exhibits?case=x&custodain=y", "/exhibits/1?case=x", "/imports?Case=x", "/imports?="):
        assert "no query parameter" in refused(acme.client.get(path), 400, "invalid-request")["detail"]
    for spelling in ("+{}", "0{}", "{}.0", "%20{}", "{}%0A", "{}_0"):
        refused(acme.client.get(f"/exhibits/{spelling.format(acme.exhibits[0])}"), 400, "invalid-request")


# None is an integer of the API, although Python reads some as the float 1.0 or 2.0**53 - 1.
NO_INTEGERS = [
    b"1.5",
    b"1.00000000000000000000001",
    b"1e-1",
    b"9007199254740991.4",
    b"1e400",
    b"0.1e99999999999999999999",
]
BODIES = [
    *(b"", b"{", b"null", b"[]", b"\xff", b"[" * 5000 + b"]" * 5000),
    b'{"exhibitIds": [1]}',
    b'{"exhibitIds": [1], "tags": []}',
    b'{"exhibitIds": [1], "tags": ["\\ud800"]}',
    b'{"exhibitIds": [1], "tags": ["a"], "tenantId": "beta"}',
    b'{"exhibitIds": [' + b"1" * 5000 + b'], "tags": ["a"]}',
    b'{"exhibitIds": [1], "exhibitIds": [2], "tags": ["a"]}',
    b'{"exhibitIds": [true], "tags": ["a"]}',
    *(b'{"exhibitIds": [%b], "tags": ["a"]}' % number for number in NO_INTEGERS),
]


def test_a_body_that_is_wrong_is_refused(acme: Matter) -> None:
    for body in BODIES:
        refused(acme.client.post("/taggings", body), 400, "invalid-request")
    for kind in ("application/xml", "multipart/form-data", "application/merge-patch+json"):
        refused(acme.client.post("/taggings", b"{}", **{"content-type": kind}), 415, "unsupported-media-type")


def test_an_array_is_not_taken_for_its_first_object_nor_an_object_for_an_array_of_one(acme: Matter) -> None:
    sound = {
        "/imports": {"case": acme.name, "fileName": "a.csv"},
        "/taggings": {"exhibitIds": acme.exhibits, "tags": ["Hot"]},
    }
    for path, each in sound.items():
        for body in ("[{0}]", " \n[{0}]", "[{0}, {0}]"):
            reply = acme.client.post(path, body.format(json.dumps(each)).encode())
            assert "one JSON object" in refused(reply, 400, "invalid-request")["detail"]
    assert acme.world.query("SELECT id FROM imports UNION ALL SELECT exhibit_id FROM taggings") == []
    assert [acme.client.post(path, each).status for path, each in sound.items()] == [201, 200]
    period = {"deviceId": 100, "begin": "2026-11-21T15:00:00Z", "end": None}
    refused(acme.client.post("/custody-periods", period), 400, "invalid-request")
    assert acme.client.post("/custody-periods", [period]).status == 201


def test_values_that_were_sent_are_not_repeated_and_names_shortened(acme: Matter) -> None:
    reply = acme.client.post("/taggings", {"exhibitIds": ["privileged"], "tags": ["a"]})
    assert "privileged" not in json.dumps(refused(reply, 400, "invalid-request"))
    reply = acme.client.post("/taggings", {"exhibitIds": [1], "tags": ["a"], "n" * 100_000: 1})
    assert len(json.dumps(refused(reply, 400, "invalid-request"))) < 1_000


def test_a_key_is_required_and_described(acme: Matter) -> None:
    body = {"exhibitIds": acme.exhibits, "tags": ["Hot"]}
    for key in ("", "k" * 256):
        reply = acme.client.call("POST", "/taggings", body, **{"Idempotency-Key": key})
        assert "1 to 255 printable ASCII characters" in refused(reply, 400, "invalid-request")["detail"]
    (error,) = refused(acme.client.call("POST", "/taggings", body), 400, "invalid-request")["errors"]
    assert error["location"] == "header/Idempotency-Key"
    assert "a new key with every new request" in error["message"]


def test_a_change_names_the_version_that_it_changes(acme: Matter) -> None:
    path, kind = f"/exhibits/{acme.exhibits[0]}", {"content-type": "application/merge-patch+json"}
    refused(acme.client.patch(path, {"title": "B"}, None), 428, "precondition-missing")
    for if_match in ('*, "1"', "1", '"1'):
        reply = acme.client.patch(path, {"title": "B"}, None, **{"If-Match": if_match})
        assert "the ETag of the version that you are changing" in refused(reply, 400, "invalid-request")["detail"]
    assert acme.client.patch(path, {"title": "B"}, 1, **kind).headers["etag"] == '"2"'
    assert refused(acme.client.patch(path, {"title": "C"}, 1), 412, "stale-version")["currentVersion"] == 2
    whichever = {"If-Match": "*"}
    assert acme.client.patch(path, {"title": "C"}, None, **whichever).headers["etag"] == '"3"'
    refused(acme.client.patch("/exhibits/4000000000", {"title": "C"}, None, **whichever), 404, "not-found")


def test_a_number_that_json_schema_calls_an_integer_is_that_integer(acme: Matter) -> None:
    exhibit = acme.exhibits[0]
    for number in (f"{exhibit}.0", f"{exhibit}.{'0' * 50}", f"{exhibit}0E-1", f"0.{exhibit}e{len(str(exhibit))}"):
        body = f'{{"exhibitIds": [{number}], "tags": ["Hot"]}}'.encode()
        reply = acme.client.post("/taggings", body, key="k1")
        assert (reply.status, reply.json["exhibits"]) == (200, 1), number
    assert reply.is_replay, "the same request, however its number is written"
