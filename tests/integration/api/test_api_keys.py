"""The Idempotency-Key of a request, as clients see it."""

from __future__ import annotations

import pytest

from tests.support.api import Client
from tests.support.cases import Matter


def tagging(acme: Matter, *tags: str) -> dict[str, object]:
    return {"exhibitIds": acme.exhibits, "tags": list(tags)}


@pytest.fixture(params=["mysql", "redis"])
def store(request: pytest.FixtureRequest) -> str:
    """With MySQL alone, and with Redis before it."""
    if request.param == "redis":
        request.getfixturevalue("with_redis")
    return str(request.param)


@pytest.mark.usefixtures("store")
def test_a_repetition_is_answered_as_the_first_and_says_so(acme: Matter) -> None:
    first = acme.client.post("/taggings", tagging(acme, "Hot"), key="k1")
    again = acme.client.post("/taggings", tagging(acme, "Hot"), key="k1")
    assert (first.status, first.json) == (200, {"exhibits": 3, "tags": 1, "created": 3})
    assert (again.status, again.json) == (first.status, first.json)
    assert (first.is_replay, again.is_replay) == (False, True)


@pytest.mark.usefixtures("store")
def test_the_bodys_spaces_and_order_do_not_count_and_a_quoted_key_is_the_same(acme: Matter) -> None:
    acme.client.post("/taggings", tagging(acme, "Hot"), key="k1")
    other = f'{{ "tags" : ["Hot"],"exhibitIds":{acme.exhibits} }}'.encode()
    assert acme.client.post("/taggings", other, key='"k1"').is_replay


@pytest.mark.usefixtures("store")
def test_a_key_with_another_body_is_refused(acme: Matter) -> None:
    acme.client.post("/taggings", tagging(acme, "Hot"), key="k1")
    reply = acme.client.post("/taggings", tagging(acme, "Cold"), key="k1")
    assert (reply.status, reply.problem) == (422, "idempotency-key-reused")
    assert acme.world.query("SELECT name FROM tags") == [("Hot",)]


@pytest.mark.usefixtures("store")
def test_a_key_with_another_path_is_refused_or_another_key(acme: Matter) -> None:
    path = "/exhibits/{}/custodians"
    body = {"custodians": ["Ada"]}
    acme.client.post(path.format(acme.exhibits[0]), body, key="k1")
    assert acme.client.post(path.format(acme.exhibits[1]), body, key="k1").problem == "idempotency-key-reused"
    assert not acme.client.post("/taggings", tagging(acme, "Hot"), key="k1").is_replay


@pytest.mark.usefixtures("store")
def test_one_tenants_key_tells_another_nothing(acme: Matter) -> None:
    acme.client.post("/taggings", tagging(acme, "Hot"), key="k1")
    theirs = Client("beta").post("/taggings", tagging(acme, "Hot"), key="k1")
    assert (theirs.status, theirs.is_replay) == (404, False)


@pytest.mark.usefixtures("store")
def test_a_refused_request_leaves_its_key_free(acme: Matter) -> None:
    missing = {"exhibitIds": [*acme.exhibits, 4_000_000_000], "tags": ["Hot"]}
    assert acme.client.post("/taggings", missing, key="k1").status == 404
    assert acme.client.post("/taggings", tagging(acme, "Hot"), key="k1").status == 200


@pytest.mark.usefixtures("store")
def test_a_change_may_carry_a_key_and_is_then_repeated_safely(acme: Matter) -> None:
    path = f"/exhibits/{acme.exhibits[0]}"
    first = acme.client.patch(path, {"title": "B"}, 1, **{"Idempotency-Key": "k1"})
    again = acme.client.patch(path, {"title": "B"}, 1, **{"Idempotency-Key": "k1"})
    assert (first.status, again.status, again.is_replay) == (200, 200, True)
    assert again.headers["etag"] == first.headers["etag"] == '"2"'
    assert acme.client.patch(path, {"title": "B"}, 2, **{"Idempotency-Key": "k1"}).status == 422


@pytest.mark.usefixtures("store")
def test_a_removal_may_carry_a_key(acme: Matter) -> None:
    acme.client.post("/taggings", tagging(acme, "Hot"))
    first = acme.client.call("DELETE", "/taggings", tagging(acme, "Hot"), **{"Idempotency-Key": "k1"})
    again = acme.client.call("DELETE", "/taggings", tagging(acme, "Hot"), **{"Idempotency-Key": "k1"})
    assert first.json == again.json == {"removed": 3}
    assert acme.client.call("DELETE", "/taggings", tagging(acme, "Hot")).json == {"removed": 0}
