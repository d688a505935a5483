"""The files of a confirmed production are listed from its manifest, with URLs that download them and nothing else."""

from __future__ import annotations

import hashlib
import urllib.request
from typing import Any
from urllib.parse import urlencode

import pytest

from core.errors import CancelledError
from core.pagination import encode_cursor
from core.productions.step_names import StepName
from shell.aws import clients
from shell.productions import steps, volume_files
from shell.productions.queries import get_production
from shell.productions.state import touch_active_production
from tests.support.api.client import Client, Reply
from tests.support.application.driver import World
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits
from tests.support.productions.runs import CALLER, ask, cancel, execute, objects_of, put_documents

ME, THEM = Client(CALLER.tenant_id, CALLER.user_id), Client("other", "eve")


@pytest.fixture
def confirmed(world: World, small_parts: None) -> int:
    """A production of two documents with two files each, and slip sheets of none."""
    made = ask()
    execute(made)
    return made


def files(production_id: int, query: str = "") -> Reply:
    return ME.get(f"/productions/{production_id}/files{query}")


def every(production_id: int, limit: int) -> list[dict[str, Any]]:
    """All files, by pages."""
    found: list[dict[str, Any]] = []
    after: str | None = ""
    while after is not None:
        reply = files(production_id, f"?limit={limit}" + (f"&after={after}" if after else ""))
        assert reply.status == 200, reply
        assert 1 <= len(reply.json["items"]) <= limit
        found += reply.json["items"]
        after = reply.json["next"]
    return found


def test_the_list_is_the_volume_and_the_urls_download_it(world: World, confirmed: int) -> None:
    objects = {
        key.removeprefix("VOL001/"): body
        for key, body in objects_of(world, confirmed).items()
        if not key.startswith(".manifest/")
    }
    listed = files(confirmed).json
    assert (listed["next"], listed["expiresInSeconds"]) == (None, 3600)
    assert [each["path"] for each in listed["items"][:3]] == ["MANIFEST.csv", "MANIFEST.sha256", "DATA/VOL001.dat"]
    stated = {each["path"]: (each["size"], each["sha256"]) for each in listed["items"]}
    assert stated == {path: (len(body), hashlib.sha256(body).hexdigest()) for path, body in objects.items()}
    for each in listed["items"]:
        with urllib.request.urlopen(each["url"]) as response:  # noqa: S310 - moto's
            assert response.read() == objects[each["path"]]
            name = each["path"].rpartition("/")[2]
            assert (
                response.headers["Content-Disposition"] == f"attachment; filename=\"{name}\"; filename*=UTF-8''{name}"
            )


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 500])
def test_pages_of_any_length_have_each_file_once(confirmed: int, limit: int) -> None:
    paths = [each["path"] for each in every(confirmed, limit)]
    assert paths == [each["path"] for each in files(confirmed).json["items"]]
    assert len(set(paths)) == len(paths) == 7


def test_a_cursor_within_a_line_is_refused(confirmed: int) -> None:
    for place in (25, 10**6, 3):
        reply = files(confirmed, f"?after={encode_cursor(place)}")
        assert (reply.status, reply.problem) == (400, "invalid-request"), place


def test_only_a_confirmed_production_of_the_tenant_has_files(world: World, production: int) -> None:
    reply = files(production)
    assert (reply.status, reply.problem) == (409, "wrong-state")
    assert "has the status requested" in reply.json["detail"]
    cancel(production)
    execute(production)
    assert "has the status cancelled" in files(production).json["detail"]
    assert THEM.get(f"/productions/{production}/files").status == 404


def test_a_manifest_that_is_gone_is_said_to_be(world: World, confirmed: int) -> None:
    clients.s3().delete_object(Bucket=world.bucket, Key=f"productions/{confirmed}/VOL001/MANIFEST.csv")
    reply = files(confirmed)
    assert (reply.status, reply.problem) == (404, "not-found")


def test_no_page_lists_the_bucket(confirmed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr("shell.aws.s3.list_objects", lambda *_: calls.append("listed"))
    requests: list[str] = []
    clients.s3().meta.events.register("before-call.s3", lambda model, **_: requests.append(model.name))
    files(confirmed, "?limit=1")
    assert (calls, set(requests)) == ([], {"HeadObject", "GetObject"})
    assert len(requests) <= 3


def progress(production_id: int) -> dict[str, tuple[int | None, int | None]]:
    """The numbers of the steps, by name."""
    found = get_production(CALLER, production_id).steps
    return {each.name: (each.done, each.total) for each in found}


def test_a_step_says_how_many_documents_it_has_copied(
    world: World, small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, seen, copy = ask(), list[Any](), volume_files.copy_files

    def look_and_copy(*given: Any) -> bytes:
        seen.append(progress(made)["copy"])
        return copy(*given)

    monkeypatch.setattr(steps, "copy_files", look_and_copy)
    assert progress(made)["copy"] == (None, None)
    execute(made)
    assert seen == [(0, 2), (1, 2)]
    assert progress(made) == dict.fromkeys(("begin", "reserve", "confirm", "notify"), (None, None)) | {"copy": (2, 2)}


def test_a_part_that_is_repeated_does_not_lower_the_number_and_a_cancelled_one_has_none(
    world: World, small_parts: None
) -> None:
    made = ask()
    world.query("UPDATE productions SET documents = 2, status = 'running' WHERE id = :p", p=made)
    for count, expected in ((1, 1), (0, 1), (2, 2)):
        touch_active_production(made, StepName.COPY, count)
        assert progress(made)["copy"] == (expected, 2)
    cancel(made)
    with pytest.raises(CancelledError):
        touch_active_production(made, StepName.COPY, 2)
    world.query("UPDATE production_steps SET status = 'compensated' WHERE production_id = :p AND name = 'copy'", p=made)
    assert progress(made)["copy"] == (0, 2)


def test_a_production_and_its_summary_name_who_requested_it(world: World, production: int) -> None:
    world.query(
        "INSERT INTO users (tenant_id, user_id, name, seen_at) VALUES (:tenant, :user, 'Ada Lovelace', NOW(6))",
        tenant=CALLER.tenant_id,
        user=CALLER.user_id,
    )
    found = [ME.get(f"/productions/{production}").json, *ME.get("/productions").json["items"]]
    assert [(each["createdBy"], each["createdByName"]) for each in found] == [(CALLER.user_id, "Ada Lovelace")] * 2


def test_prefixes_have_their_next_number_and_the_ranges_that_are_void(world: World) -> None:
    case_id = get_or_create_case(world, "Case", "tenant")
    put_exhibits(world, case_id, ["A", "B"])
    execute(ask())
    for first in (101, 103):
        made = ask()
        world.query(
            "UPDATE productions SET status = 'cancelled', is_open = 0, sequence_id = (SELECT id FROM bates_sequences), "
            "first_number = :f, last_number = :l WHERE id = :p",
            p=made, f=first, l=first + 1,
        )  # fmt: skip
    execute(ask(prefix="ZED", digits=3))
    found = ME.get("/bates-prefixes?case=Case").json
    assert found["next"] is None
    assert [(each["prefix"], each["digits"], each["nextNumber"], each["nextBates"]) for each in found["items"]] == [
        ("ACME", 7, 3, "ACME0000003"),
        ("ZED", 3, 3, "ZED003"),
    ]
    assert found["items"][0]["voidRanges"] == [{"first": "ACME0000101", "last": "ACME0000104"}]
    assert found["items"][1]["voidRanges"] == []
    page = ME.get("/bates-prefixes?case=Case&limit=1").json
    assert ME.get(f"/bates-prefixes?case=Case&limit=1&after={page['next']}").json["items"] == found["items"][1:]
    assert THEM.get("/bates-prefixes?case=Case").status == 404


def produced(production_id: int) -> list[str]:
    found = ME.get(f"/productions/{production_id}/documents").json["items"]
    return [each["controlNumber"] for each in found]


QUERIES: list[tuple[dict[str, Any], list[str]]] = [
    ({"importId": 7}, ["C"]),
    ({"dateFrom": "2019-01-02"}, ["B"]),
    ({"dateTo": "2019-01-01"}, ["A"]),
    ({"batesFrom": "X0002", "batesTo": "X0003"}, ["B"]),
    ({"hasNative": True}, ["A"]),
    ({"hasText": False, "title": "board minutes"}, ["B"]),
    ({"controlNumber": "C"}, ["C"]),
    ({}, ["A", "B", "C"]),
]


@pytest.mark.parametrize(("query", "expected"), QUERIES, ids=str)
def test_the_filters_of_the_list_select_what_is_produced(
    world: World, query: dict[str, Any], expected: list[str]
) -> None:
    case_id = get_or_create_case(world, "Case", "tenant")
    put_documents(world, ["A"], document_date="2019-01-01 23:00:00")
    world.query("UPDATE exhibits SET text_path = NULL")
    put_exhibits(world, case_id, ["B"], document_date="2019-01-02", bates_begin="X0002", title="Minutes of the board")
    put_exhibits(world, case_id, ["C"], import_id=7)
    body = {"case": "Case", "volume": "VOL001", "prefix": "ACME", "digits": 7, "query": query}
    sent = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
    listed = ME.get("/exhibits?" + urlencode({"case": "Case", **sent}))
    assert [each["controlNumber"] for each in listed.json["items"]] == expected
    made = ME.post("/productions", body)
    assert made.status == 202, made
    execute(made.json["id"])
    assert produced(made.json["id"]) == expected


def test_an_earlier_release_fails_on_filters_that_it_does_not_know(world: World) -> None:
    """It reads `query`, and would produce every exhibit of the case."""
    put_exhibits(world, get_or_create_case(world, "Case", "tenant"), ["A", "B"], import_id=7)
    for query, name in (({"importId": 7}, "filters"), ({"tag": None}, "query"), ({}, "query")):
        made = ask(query=query)
        [(selection,)] = world.query("SELECT selection FROM productions WHERE id = :p", p=made)
        assert f'"{name}"' in selection
