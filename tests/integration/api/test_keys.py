"""The Idempotency-Key of a request, as clients see it."""

from __future__ import annotations

import pytest

from tests.support.exhibits.stored_cases import Matter


def tagging(acme: Matter, *tags: str) -> dict[str, object]:
    return {"exhibitIds": acme.exhibits, "tags": list(tags)}


@pytest.fixture(params=["mysql", "redis"])
def store(request: pytest.FixtureRequest) -> str:
    """With MySQL alone, and with Redis before it."""
    if request.param == "redis":
        request.getfixturevalue("with_redis")
    return str(request.param)


@pytest.mark.usefixtures("store")
def test_a_key_stands_for_one_request(acme: Matter) -> None:
    first = acme.client.post("/taggings", tagging(acme, "Hot"), key="k1")
    # Spaces and the order of members do not count; a quoted key is the same key.
    other_bytes = f'{{ "tags" : ["Hot"],"exhibitIds":{acme.exhibits} }}'.encode()
    again = [
        acme.client.post("/taggings", body, key) for body, key in ((tagging(acme, "Hot"), "k1"), (other_bytes, '"k1"'))
    ]
    assert (first.status, first.json, first.is_replay) == (200, {"exhibits": 3, "tags": 1, "created": 3}, False)
    assert [(each.status, each.json, each.is_replay) for each in again] == [(200, first.json, True)] * 2
    refused = acme.client.post("/taggings", tagging(acme, "Cold"), key="k1")
    assert (refused.status, refused.problem) == (422, "idempotency-key-reused")
    assert acme.world.query("SELECT name FROM tags") == [("Hot",)]


def test_a_key_with_another_path_is_refused_or_another_key(acme: Matter) -> None:
    path, body = "/exhibits/{}/custodians", {"custodians": ["Ada"]}
    acme.client.post(path.format(acme.exhibits[0]), body, key="k1")
    assert acme.client.post(path.format(acme.exhibits[1]), body, key="k1").problem == "idempotency-key-reused"
    assert not acme.client.post("/taggings", tagging(acme, "Hot"), key="k1").is_replay


@pytest.mark.usefixtures("store")
def test_a_refused_request_leaves_its_key_free(acme: Matter) -> None:
    missing = {"exhibitIds": [*acme.exhibits, 4_000_000_000], "tags": ["Hot"]}
    assert acme.client.post("/taggings", missing, key="k1").status == 404
    assert acme.client.post("/taggings", tagging(acme, "Hot"), key="k1").status == 200


def test_changes_and_removals_may_carry_a_key_and_are_then_repeated_safely(acme: Matter) -> None:
    path, key = f"/exhibits/{acme.exhibits[0]}", {"Idempotency-Key": "k1"}
    first, again = (acme.client.patch(path, {"title": "B"}, 1, **key) for _ in range(2))
    assert (first.status, again.status, again.is_replay) == (200, 200, True)
    assert again.headers["etag"] == first.headers["etag"] == '"2"'
    assert acme.client.patch(path, {"title": "B"}, 2, **key).status == 422
    acme.client.post("/taggings", tagging(acme, "Hot"))
    removed = [acme.client.call("DELETE", "/taggings", tagging(acme, "Hot"), **with_key) for with_key in (key, key, {})]
    assert [each.json for each in removed] == [{"removed": 3}, {"removed": 3}, {"removed": 0}]
