"""Productions are requested, followed, listed, cancelled and continued over HTTP; a refusal says why."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.api.client import Client, Reply
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import Matter, get_or_create_case, matter, put_exhibits
from tests.support.productions.runs import CALLER, execute
from tests.support.productions.runs import ask as create

PATH = "/productions"
ME = Client(CALLER.tenant_id, CALLER.user_id)
STEPS = ["begin", "reserve", "copy", "confirm", "notify"]
ROWS = " UNION ALL ".join(
    f"SELECT COUNT(*) FROM {table}" for table in ("productions", "production_steps", "outbox_events")
)


@pytest.fixture
def acme(world: World) -> Matter:
    """A case with three exhibits that have no files."""
    return matter(world, 3)


def body(**fields: Any) -> dict[str, Any]:
    """A request for the whole case; None leaves a member out."""
    whole = {"case": "Smith v. Jones", "volume": "VOL001", "prefix": "SMITH", "digits": 7, "query": {}, **fields}
    return {name: value for name, value in whole.items() if value is not None}


def ask(by: Matter, **fields: Any) -> dict[str, Any]:
    """A production that was requested."""
    reply = by.client.post(PATH, body(**fields))
    assert reply.status == 202, reply
    return dict(reply.json)


def refused(reply: Reply, status: int, problem: str) -> str:
    """The detail of a problem."""
    assert (reply.status, reply.problem) == (status, problem), reply
    return str(reply.json["detail"])


def rows(world: World) -> list[int]:
    return [row[0] for row in world.query(ROWS)]


def test_a_production_is_requested_and_followed_to_its_end(acme: Matter) -> None:
    made, again = (acme.client.post(PATH, body(), key="one") for _ in range(2))
    assert (made.status, made.headers["location"]) == (202, f"/productions/{made.json['id']}")
    assert (again.is_replay, again.json, again.headers["location"]) == (True, made.json, made.headers["location"])
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
    [listed] = acme.client.get(PATH).json["items"]
    assert listed.items() <= last.items()


def test_what_cannot_be_and_a_selection_of_nothing_are_refused(acme: Matter) -> None:
    reply = acme.client.post(PATH, body(properties=["From", "Tags"]))
    refused(reply, 400, "invalid-request")
    assert [error["location"] for error in reply.json["errors"]] == ["body/properties/1"]
    for query in ({"tag": "Hot"}, {"custodian": "No One"}, {"tag": "\U0001f600"}, {"tag": "a", "custodian": "b"}):
        assert "matches the selection" in refused(acme.client.post(PATH, body(query=query)), 400, "invalid-request")
    matter(acme.world, 0, name="Empty")
    refused(acme.client.post(PATH, body(case="Empty")), 400, "invalid-request")
    refused(acme.client.post(PATH, body(case="No such case")), 404, "not-found")
    refused(acme.client.post(PATH, body(case="SMITH V. JONES")), 404, "not-found")
    [strange] = matter(acme.world, 1, name="Other case").exhibits
    fields = body(query=None, exhibitIds=[*acme.exhibits, strange])
    assert refused(acme.client.post(PATH, fields), 404, "not-found").endswith(f": {strange}.")
    assert rows(acme.world) == [0, 0, 0]


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


def test_a_production_is_cancelled_once_and_the_request_may_be_repeated(acme: Matter) -> None:
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


def test_what_is_left_to_do_is_said_and_gone_on_with(acme: Matter) -> None:
    made = ask(acme)["id"]
    left = "UPDATE productions SET status = 'needs_attention', is_open = 0, failed_step = 'copy' WHERE id = :p"
    acme.world.query(left, p=made)
    for name, status in (("begin", "completed"), ("reserve", "compensated"), ("copy", "failed")):
        update = "UPDATE production_steps SET status = :s, reason = 'why' WHERE production_id = :p AND name = :n"
        acme.world.query(update, s=status, p=made, n=name)
    actions = acme.client.get(f"{PATH}/{made}").json["remainingActions"]
    assert actions == ["cancel the production", f"delete the objects under productions/{made}/VOL001/"]
    detail = refused(acme.client.post(f"{PATH}/{made}/cancel"), 409, "wrong-state")
    assert "retry" in detail
    reply = acme.client.post(f"{PATH}/{made}/retry")
    assert (reply.status, reply.json["status"], reply.json["remainingActions"]) == (200, "cancelling", [])
    fields = acme.world.query("SELECT payload FROM outbox_events WHERE aggregate_id = :p ORDER BY id DESC", p=str(made))
    assert '"generation":2' in fields[0][0].replace(" ", "")


def walked(path: str, limit: int) -> list[list[Any]]:
    """All pages of a list."""
    pages, after = [], ""
    while True:
        page = ME.get(f"{path}{'&' if '?' in path else '?'}limit={limit}{after}").json
        pages.append(page["items"])
        if page["next"] is None:
            return pages
        after = f"&after={page['next']}"


def ids(pages: list[list[Any]]) -> list[int]:
    return [item["id"] for page in pages for item in page]


def test_productions_are_listed_newest_first_page_by_page(world: World) -> None:
    for case in ("Case", "Other"):
        put_exhibits(world, get_or_create_case(world, case, "tenant"), ["A"])
    made = [(case, create(case)) for case in ("Case", "Other", "Case", "Case", "Other")]
    matter(world, 1, tenant="other")
    newest = [production for _, production in reversed(made)]
    assert [ids(walked("/productions", limit)) for limit in (1, 2, 5, 100)] == [newest] * 4
    assert [len(page) for page in walked("/productions", 2)] == [2, 2, 1]
    ours = [production for case, production in reversed(made) if case == "Case"]
    assert ids(walked("/productions?case=Case", 2)) == ours
    assert ME.get("/productions?case=Unknown").status == 404
    assert ME.get(f"/productions/{newest[0]}/documents").json == {"items": [], "next": None, "prev": None}
    assert ME.get(f"/productions/{newest[0]}/documents?after=x").status == 400
    for cursor in ("x", "WzFd", "WyJhIl0"):
        assert ME.get(f"/productions?case=Case&after={cursor}").status == (200 if cursor == "WzFd" else 400)


def test_documents_are_listed_with_their_numbers_page_by_page(world: World) -> None:
    numbers = [f"D-{number}" for number in range(7)]
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), numbers)
    first, second = create("Case"), create("Case")
    execute(first)
    execute(second)
    for production, start in ((first, 1), (second, 8)):
        pages = walked(f"/productions/{production}/documents", 3)
        assert [len(page) for page in pages] == [3, 3, 1]
        items = [item for page in pages for item in page]
        assert [item["controlNumber"] for item in items] == numbers
        assert [item["batesBegin"] for item in items] == [f"ACME{start + place:07}" for place in range(7)]
        assert {item["status"] for item in items} == {"produced"}
    assert [item["position"] for item in items] == list(range(7, 14)), "of one volume, after the first"
