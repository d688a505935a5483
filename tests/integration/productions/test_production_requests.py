"""Productions are asked for, followed, cancelled and gone on with over HTTP; whoever is refused is told why."""

from __future__ import annotations

from typing import Any

import pytest

from shell.db.column_limits import ColumnLimit
from shell.productions import commands
from tests.support.api import Client, Reply
from tests.support.cases import Matter, matter
from tests.support.productions import execute, steps_of
from tests.support.world import World

PATH = "/productions"
STRANGER = Client("other", "eve")
STEPS = ["begin", "reserve", "copy", "confirm", "notify"]
ROWS = " UNION ALL ".join(
    f"SELECT COUNT(*) FROM {table}" for table in ("productions", "production_steps", "outbox_events")
)


@pytest.fixture
def acme(world: World) -> Matter:
    """A case with three exhibits that have no files."""
    return matter(world, 3)


def body(**asked: Any) -> dict[str, Any]:
    """A request for the whole case; None leaves a member out."""
    whole = {"case": "Smith v. Jones", "volume": "VOL001", "prefix": "SMITH", "digits": 7, "query": {}, **asked}
    return {name: value for name, value in whole.items() if value is not None}


def ask(by: Matter, **asked: Any) -> dict[str, Any]:
    """A production that was asked for."""
    reply = by.client.post(PATH, body(**asked))
    assert reply.status == 202, reply
    return dict(reply.json)


def refused(reply: Reply, status: int, problem: str) -> str:
    """The detail of a problem."""
    assert (reply.status, reply.problem) == (status, problem), reply
    return str(reply.json["detail"])


def rows(world: World) -> list[int]:
    return [row[0] for row in world.query(ROWS)]


def test_a_production_is_asked_for_and_followed_to_its_end(acme: Matter) -> None:
    made = acme.client.post(PATH, body())
    assert (made.status, made.headers["location"]) == (202, f"/productions/{made.json['id']}")
    first = acme.client.get(made.headers["location"])
    assert first.json == made.json
    assert (first.json["status"], first.json["documents"], first.json["firstBates"]) == ("requested", None, None)
    assert [(step["name"], step["status"]) for step in first.json["steps"]] == [(name, "pending") for name in STEPS]
    execute(first.json["id"])
    last = acme.client.get(made.headers["location"]).json
    assert [(step["name"], step["status"], step["reason"]) for step in last["steps"]] == [
        (name, "completed", None) for name in STEPS
    ]
    assert (last["status"], last["documents"], last["remainingActions"]) == ("confirmed", 3, [])
    assert (last["firstBates"], last["lastBates"]) == ("SMITH0000001", "SMITH0000003")
    assert last["folder"] == f"productions/{last['id']}/VOL001/"


def test_a_repeated_request_is_one_production(acme: Matter) -> None:
    first, again = (acme.client.post(PATH, body(), key="one") for _ in range(2))
    assert (again.status, again.is_replay, again.json) == (202, True, first.json)
    assert again.headers["location"] == first.headers["location"]
    refused(acme.client.post(PATH, body(digits=8), key="one"), 422, "idempotency-key-reused")
    assert rows(acme.world) == [1, 5, 1]
    assert acme.client.call("POST", PATH, body()).status == 400, "a key is required"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"query": None}, "body"),
    ({"prefix": "SMITH1"}, "body/prefix"),
    ({"properties": ["From", "Tags"]}, "body/properties/1"),
    ({"query": None, "exhibitIds": []}, "body/exhibitIds"),
    ({"colour": "red"}, "body/colour"),
]


def test_what_cannot_be_is_named_and_leaves_nothing(acme: Matter) -> None:
    for asked, where in WRONG:
        reply = acme.client.post(PATH, body(**asked))
        refused(reply, 400, "invalid-request")
        assert [error["location"] for error in reply.json["errors"]] == [where]
    assert rows(acme.world) == [0, 0, 0]


def test_a_selection_of_nothing_is_refused(acme: Matter) -> None:
    for query in ({"tag": "Hot"}, {"custodian": "Nobody"}, {"tag": "\U0001f600"}, {"tag": "a", "custodian": "b"}):
        assert "matches the selection" in refused(acme.client.post(PATH, body(query=query)), 400, "invalid-request")
    matter(acme.world, 0, name="Empty")
    refused(acme.client.post(PATH, body(case="Empty")), 400, "invalid-request")
    refused(acme.client.post(PATH, body(case="No such case")), 404, "not-found")
    refused(acme.client.post(PATH, body(case="SMITH V. JONES")), 404, "not-found")
    assert rows(acme.world) == [0, 0, 0]


def test_exhibits_of_others_do_not_exist(acme: Matter) -> None:
    theirs, elsewhere = matter(acme.world, 1, tenant="other"), matter(acme.world, 1, name="Other case")
    for strange in (theirs.exhibits[0], elsewhere.exhibits[0], 2**53 - 1):
        asked = body(query=None, exhibitIds=[*acme.exhibits, strange])
        assert refused(acme.client.post(PATH, asked), 404, "not-found").endswith(f": {strange}")
    assert rows(acme.world) == [0, 0, 0]


def test_what_belongs_to_another_tenant_is_not_found(acme: Matter) -> None:
    matter(acme.world, 1, tenant="other")
    made = ask(acme)["id"]
    missing = STRANGER.get(f"{PATH}/{made + 1000}")
    for path in (f"{PATH}/{made}", f"{PATH}/{made}/documents"):
        refused(STRANGER.get(path), 404, "not-found")
    for action in ("cancel", "retry"):
        refused(STRANGER.post(f"{PATH}/{made}/{action}"), 404, "not-found")
    assert STRANGER.get(f"{PATH}/{made}").json["detail"] == missing.json["detail"].replace(str(made + 1000), str(made))
    assert STRANGER.get(PATH).json["items"] == []
    assert acme.client.get(f"{PATH}/{made}").json["cancelRequested"] is False


def test_ids_are_produced_once_each_in_the_order_of_their_numbers(acme: Matter) -> None:
    first, second, third = acme.exhibits
    production = ask(acme, query=None, exhibitIds=[third, first, third])["id"]
    execute(production)
    items = acme.client.get(f"{PATH}/{production}/documents").json["items"]
    assert [(item["exhibitId"], item["batesBegin"]) for item in items] == [
        (first, "SMITH0000001"),
        (third, "SMITH0000002"),
    ]
    assert second not in {item["exhibitId"] for item in items}


def test_ten_thousand_ids_are_one_request(world: World) -> None:
    large = matter(world, 10_000)
    reply = large.client.post(PATH, body(query=None, exhibitIds=large.exhibits))
    assert reply.status == 202, reply
    kept = world.query("SELECT JSON_LENGTH(selection, '$.ids') FROM productions")
    assert [row[0] for row in kept] == [10_000]


def test_a_user_whose_name_the_column_cannot_hold_is_refused(acme: Matter, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = {"user_id": ColumnLimit(255, None, "utf8mb3", "utf8mb3_bin")}
    monkeypatch.setattr(commands, "column_limits", lambda _table: narrow)
    reply = Client(acme.tenant, "\U0001f600").post(PATH, body())
    assert "utf8mb3" in refused(reply, 400, "invalid-request")
    refused(Client(acme.tenant, "x" * 256).post(PATH, body()), 403, "forbidden")
    assert rows(acme.world) == [0, 0, 0]


def test_a_production_is_cancelled_once_and_may_be_asked_so_again(acme: Matter) -> None:
    made = ask(acme)["id"]
    cancelled = [acme.client.post(f"{PATH}/{made}/cancel") for _ in range(2)]
    assert [(reply.status, reply.json["cancelRequested"]) for reply in cancelled] == [(200, True)] * 2
    execute(made)
    again = acme.client.post(f"{PATH}/{made}/cancel")
    assert (again.status, again.json["status"], again.json["failedStep"]) == (200, "cancelled", "begin")
    assert "on request" in again.json["reason"]
    key = acme.client.post(f"{PATH}/{made}/cancel", key="c"), acme.client.post(f"{PATH}/{made}/cancel", key="c")
    assert [reply.is_replay for reply in key] == [False, True]
    refused(acme.client.post(f"{PATH}/{made}/retry"), 409, "wrong-state")


def test_what_is_confirmed_is_not_taken_back_and_only_what_needs_attention_is_retried(acme: Matter) -> None:
    made = ask(acme)["id"]
    execute(made)
    assert "confirmed" in refused(acme.client.post(f"{PATH}/{made}/cancel"), 409, "wrong-state")
    for status in ("requested", "running", "cancelling", "cancelled", "confirmed"):
        acme.world.query("UPDATE productions SET status = :s WHERE id = :p", s=status, p=made)
        assert status in refused(acme.client.post(f"{PATH}/{made}/retry"), 409, "wrong-state")
    assert acme.client.get(f"{PATH}/{made}").json["status"] == "confirmed"


def attention(by: Matter, *steps: tuple[str, str]) -> int:
    """A production of which something is left."""
    made = int(ask(by)["id"])
    left = "UPDATE productions SET status = 'needs_attention', is_open = 0, failed_step = 'copy' WHERE id = :p"
    by.world.query(left, p=made)
    for name, status in steps:
        update = "UPDATE production_steps SET status = :s, reason = 'why' WHERE production_id = :p AND name = :n"
        by.world.query(update, s=status, p=made, n=name)
    return made


def test_what_is_left_to_do_is_said_and_gone_on_with(acme: Matter) -> None:
    made = attention(acme, ("begin", "completed"), ("reserve", "compensated"), ("copy", "failed"))
    left = acme.client.get(f"{PATH}/{made}").json["remainingActions"]
    assert left == ["cancel the production", f"delete the objects under productions/{made}/VOL001/"]
    detail = refused(acme.client.post(f"{PATH}/{made}/cancel"), 409, "wrong-state")
    assert "retry" in detail
    reply = acme.client.post(f"{PATH}/{made}/retry")
    assert (reply.status, reply.json["status"], reply.json["remainingActions"]) == (200, "cancelling", [])
    asked = acme.world.query("SELECT payload FROM outbox_events WHERE aggregate_id = :p ORDER BY id DESC", p=str(made))
    assert '"generation":2' in asked[0][0].replace(" ", "")


def test_parties_that_were_not_told_are_told(acme: Matter) -> None:
    done = [(name, "completed") for name in STEPS[:-1]]
    made = attention(acme, *done, ("notify", "failed"))
    assert acme.client.get(f"{PATH}/{made}").json["remainingActions"] == ["notify the recipients of the volume"]
    reply = acme.client.post(f"{PATH}/{made}/retry")
    assert reply.json["status"] == "confirmed"
    assert steps_of(acme.world, made)["notify"] == "pending"


def test_what_is_not_a_production_is_not_a_request(acme: Matter) -> None:
    for path in (f"{PATH}/0", f"{PATH}/abc", f"{PATH}/0/documents", f"{PATH}?limit=0", f"{PATH}?x=1"):
        refused(acme.client.get(path), 400, "invalid-request")
