"""Every error is a problem document that says what to do, and nothing of what was met."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.api.conftest import Matter
from tests.support.api import Client, Reply


def refused(reply: Reply, status: int, name: str) -> dict[str, Any]:
    """The problem document, having checked its shape."""
    assert (reply.status, reply.problem) == (status, name), reply
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json["status"] == status
    assert reply.json["title"]
    assert reply.json["detail"]
    return dict(reply.json)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("/exhibits", "query/case"),
        ("/exhibits?case=x&limit=0", "query/limit"),
        ("/exhibits?case=x&limit=501", "query/limit"),
        ("/exhibits?case=x&limit=1&limit=2", "query/limit"),
        ("/exhibits?case=x&limit=1_0", "query/limit"),
        ("/exhibits?case=x&case=", "query/case"),
        ("/exhibits?case=", "query/case"),
        ("/exhibits/0", "path/exhibitId"),
        ("/exhibits/abc", "path/exhibitId"),
        ("/exhibits/9007199254740992", "path/exhibitId"),
    ],
)
def test_a_parameter_that_is_wrong_is_named(acme: Matter, path: str, where: str) -> None:
    problem = refused(acme.client.get(path), 400, "invalid-request")
    assert [error["location"] for error in problem["errors"]] == [where]


@pytest.mark.parametrize(
    "path", ["/exhibits?case=x&custodain=y", "/exhibits/1?case=x", "/imports?Case=x", "/imports?="]
)
def test_a_parameter_that_the_route_does_not_know_is_refused(acme: Matter, path: str) -> None:
    assert "no query parameter" in refused(acme.client.get(path), 400, "invalid-request")["detail"]


@pytest.mark.parametrize("spelling", ["+{}", "0{}", "{}.0", "%20{}", "{}%0A", "{}_0"])
def test_an_id_has_one_spelling(acme: Matter, spelling: str) -> None:
    refused(acme.client.get(f"/exhibits/{spelling.format(acme.exhibits[0])}"), 400, "invalid-request")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff",
        b'{"exhibitIds": [1]}',
        b'{"exhibitIds": [], "tags": ["a"]}',
        b'{"exhibitIds": [1], "tags": []}',
        b'{"exhibitIds": ["x"], "tags": ["a"]}',
        b'{"exhibitIds": [1], "tags": [" a"]}',
        b'{"exhibitIds": [1], "tags": ["a\\u0000b"]}',
        b'{"exhibitIds": [1], "tags": ["\\ud800"]}',
        b'{"exhibitIds": [1], "tags": ["a"], "tenantId": "beta"}',
        b'{"exhibitIds": [1], "tags": ["' + b"a" * 501 + b'"]}',
        b"[" * 5000 + b"]" * 5000,
        b'{"exhibitIds": [' + b"1" * 5000 + b'], "tags": ["a"]}',
        b'{"exhibitIds": [1], "exhibitIds": [2], "tags": ["a"]}',
        b'{"exhibitIds": [true], "tags": ["a"]}',
        b'{"exhibitIds": [1.0], "tags": ["a"]}',
    ],
)
def test_a_body_that_is_wrong_is_refused(acme: Matter, body: bytes) -> None:
    refused(acme.client.post("/taggings", body), 400, "invalid-request")


@pytest.mark.parametrize("body", ["[{0}]", " \n[{0}]", "[{0}, {0}]"])
def test_an_array_is_not_taken_for_the_object_that_is_its_first(acme: Matter, body: str) -> None:
    sound = {
        "/imports": {"case": acme.name, "fileName": "a.csv"},
        "/taggings": {"exhibitIds": acme.exhibits, "tags": ["Hot"]},
    }
    for path, each in sound.items():
        reply = acme.client.post(path, body.format(json.dumps(each)).encode())
        assert "one JSON object" in refused(reply, 400, "invalid-request")["detail"]
    assert acme.world.query("SELECT id FROM imports UNION ALL SELECT exhibit_id FROM taggings") == []
    assert [acme.client.post(path, each).status for path, each in sound.items()] == [201, 200]


def test_an_object_is_not_taken_for_an_array_of_one(acme: Matter) -> None:
    period = {"deviceId": 100, "begin": "2026-11-21T15:00:00Z", "end": None}
    refused(acme.client.post("/custody-periods", period), 400, "invalid-request")
    assert acme.client.post("/custody-periods", [period]).status == 201


def test_too_many_are_refused(acme: Matter) -> None:
    too_many = {"exhibitIds": list(range(1, 1002)), "tags": ["a"]}
    refused(acme.client.post("/taggings", too_many), 400, "invalid-request")


def test_values_that_were_sent_are_not_repeated(acme: Matter) -> None:
    reply = acme.client.post("/taggings", {"exhibitIds": ["privileged"], "tags": ["a"]})
    assert "privileged" not in json.dumps(reply.json)


def test_a_name_that_was_sent_is_repeated_shortened(acme: Matter) -> None:
    reply = acme.client.post("/taggings", {"exhibitIds": [1], "tags": ["a"], "n" * 100_000: 1})
    assert len(json.dumps(refused(reply, 400, "invalid-request"))) < 1_000


def test_a_body_of_another_kind_is_refused(acme: Matter) -> None:
    for kind in ("application/xml", "multipart/form-data", "application/merge-patch+json"):
        reply = acme.client.post("/taggings", b"{}", **{"content-type": kind})
        refused(reply, 415, "unsupported-media-type")


def test_a_change_may_be_sent_as_a_merge_patch(acme: Matter) -> None:
    path, kind = f"/exhibits/{acme.exhibits[0]}", {"content-type": "application/merge-patch+json"}
    assert acme.client.patch(path, {"title": "B"}, 1, **kind).json["title"] == "B"


@pytest.mark.parametrize("key", ["", '""', "k" * 256, "\u00e4"])
def test_a_key_that_is_none_is_refused(acme: Matter, key: str) -> None:
    body = {"exhibitIds": acme.exhibits, "tags": ["Hot"]}
    problem = refused(acme.client.call("POST", "/taggings", body, **{"Idempotency-Key": key}), 400, "invalid-request")
    assert "1 to 255 printable ASCII characters" in problem["detail"]


def test_a_post_without_a_key_is_refused(acme: Matter) -> None:
    problem = refused(acme.client.call("POST", "/taggings", {"exhibitIds": [1], "tags": ["a"]}), 400, "invalid-request")
    assert problem["errors"][0]["location"] == "header/Idempotency-Key"
    assert "a new key with every new request" in problem["errors"][0]["message"]


@pytest.mark.parametrize("tenant", ["", "a/b", " a", "a" * 65, "a\nb", "[a b]", "{}"])
def test_a_token_without_a_usable_tenant_is_refused(acme: Matter, tenant: str) -> None:
    refused(Client(tenant).get("/exhibits?case=x"), 403, "forbidden")


def test_a_change_without_a_version_is_refused(acme: Matter) -> None:
    path = f"/exhibits/{acme.exhibits[0]}"
    refused(acme.client.patch(path, {"title": "B"}, None), 428, "precondition-missing")


@pytest.mark.parametrize("if_match", ["*", "1", '"1'])
def test_an_if_match_without_an_etag_is_refused(acme: Matter, if_match: str) -> None:
    path = f"/exhibits/{acme.exhibits[0]}"
    problem = refused(acme.client.patch(path, {"title": "B"}, None, **{"If-Match": if_match}), 400, "invalid-request")
    assert "the ETag of the version that you are changing" in problem["detail"]


def test_a_stale_version_is_answered_with_the_current_one(acme: Matter) -> None:
    path = f"/exhibits/{acme.exhibits[0]}"
    assert acme.client.patch(path, {"title": "B"}, 1).headers["etag"] == '"2"'
    problem = refused(acme.client.patch(path, {"title": "C"}, 1), 412, "stale-version")
    assert problem["currentVersion"] == 2


def test_what_is_anothers_is_answered_as_what_is_not_there(acme: Matter) -> None:
    there, nowhere = str(acme.exhibits[0]), "4000000000"
    theirs = refused(Client("beta").get(f"/exhibits/{there}"), 404, "not-found")
    nobodys = refused(Client("beta").get(f"/exhibits/{nowhere}"), 404, "not-found")
    assert str(theirs).replace(there, "?") == str(nobodys).replace(nowhere, "?")
