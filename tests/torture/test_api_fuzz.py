"""Whatever a client sends, the API answers; and what it refuses has changed nothing.

`tests/integration/api/test_api_document.py` asks by the document; here requests are damaged past what a schema can say,
and the database is compared before and after each.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any
from urllib.parse import unquote

import pytest

from local.gateway.events import HttpRequest, HttpResponse
from samples.words import build_random
from shell.tables import metadata
from tests.support.api import TOKENS, gateway
from tests.support.cases import Matter, matter
from tests.support.world import World
from tests.torture.hostile_requests import Operation, Request, damaged, operations, sound
from tools import openapi

DOCUMENT: dict[str, Any] = json.loads(openapi.DOCUMENT.read_text(encoding="utf-8"))
SOME, MANY = 15, 400
CASE = "Smith v. Jones"
DEVICE = 100
PERIOD = {"deviceId": DEVICE, "begin": "2026-11-21T15:00:00Z", "end": "2026-11-21T17:00:00Z"}
EXAMPLES: dict[str, Any] = {
    "POST /imports": {"case": CASE, "fileName": "a.dat", "size": 100, "options": {"header": False}},
    "POST /taggings": {"exhibitIds": [1, 2], "tags": ["Hot", "Hot\\Really"]},
    "DELETE /taggings": {"exhibitIds": [1, 2], "tags": ["Hot"]},
    "PATCH /exhibits/{exhibitId}": {"title": "The Plan", "documentDate": None},
    "POST /exhibits/{exhibitId}/custodians": {"custodians": ["Ada Lovelace"]},
    "POST /custodians": {"case": CASE, "name": "Evidence room 2"},
    "POST /custody-periods": [{**PERIOD, "begin": "2026-11-23T15:00:00Z", "end": None}],
    "POST /custody-transfers": {"deviceId": DEVICE, "at": "2026-11-21T16:00:00Z", "custodianId": None},
    "PATCH /custody-periods/{periodId}": {"end": "2026-11-21T18:30:00Z"},
    "POST /productions": {"case": CASE, "query": {}, "volume": "VOL001", "prefix": "SMITH", "digits": 7},
}
OPERATIONS = operations(DOCUMENT, EXAMPLES)
GATEWAY_ALONE = {401, 404, 413}


def send(request: Request) -> HttpResponse:
    """The answer of the API in this process, with a token."""
    headers = [("host", "api.test"), ("authorization", f"Bearer {TOKENS.issue('acme', 'ada')}"), *request.headers]
    path = unquote(request.path, errors="replace")
    return gateway().handle(HttpRequest(request.method, path, request.query, headers, request.body, "127.0.0.1"))


def state(world: World) -> list[Any]:
    """Something that differs where any row of any table does.

    A key that is free again is as good as none, and so is a semaphore that nobody holds.
    """
    tables = ", ".join(table for table in metadata().tables if table not in ("idempotency_keys", "semaphores"))
    keys = "SELECT id, status, status_code FROM idempotency_keys WHERE status <> 'released' ORDER BY id"
    return [tuple(row) for row in [*world.query(f"CHECKSUM TABLE {tables}"), *world.query(keys)]]


def known(world: World, acme: Matter) -> dict[str, str]:
    """An import, an exhibit, a period of custody and a production that are there."""
    client = acme.client
    period = client.post("/custody-periods", [PERIOD]).json["items"][0]["id"]
    production = client.post("/productions", EXAMPLES["POST /productions"]).json["id"]
    announced = client.post("/imports", EXAMPLES["POST /imports"]).json["id"]
    ids = {"importId": announced, "exhibitId": acme.exhibits[0], "periodId": period, "productionId": production}
    return {
        **{name: str(value) for name, value in ids.items()},
        "case": CASE,
        "deviceId": str(DEVICE),
        "limit": "3",
        "version": "1",
    }


def of_this_world(operation: Operation, acme: Matter) -> Operation:
    """The operation, about exhibits that are there."""
    if not isinstance(operation.body, dict) or "exhibitIds" not in operation.body:
        return operation
    return Operation(
        operation.method, operation.path, operation.parameters, {**operation.body, "exhibitIds": acme.exhibits[:2]}
    )


def check(request: Request, answer: HttpResponse) -> None:
    """An answer is no failure, and a refusal says what it is."""
    assert answer.status < 500 or (answer.status == 503 and b"urn:exhibit-ingest:problem:unavailable" in answer.body)
    if answer.status < 400:
        return
    body = json.loads(answer.body)
    if "message" in body and answer.status in GATEWAY_ALONE:
        return
    kinds = {name.lower(): value for name, value in answer.headers}
    assert kinds["content-type"] == "application/problem+json", (request, body)
    assert body["type"].startswith("urn:exhibit-ingest:problem:"), (request, body)
    assert body["status"] == answer.status
    assert body["title"]
    assert body["detail"]


@pytest.mark.parametrize("requests", [SOME, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_a_damaged_request_is_answered_and_a_refused_one_changes_nothing(
    world: World, operation: Operation, requests: int
) -> None:
    acme = matter(world, 3)
    ids, asked = known(world, acme), of_this_world(operation, acme)
    answers: Counter[int] = Counter()
    before = state(world)
    for number in range(requests):
        rng = build_random(number, operation.label)
        request = sound(rng, asked, ids)
        request = damaged(rng, request) if number else request
        answer = send(request)
        answers[answer.status] += 1
        check(request, answer)
        after = state(world)
        if answer.status >= 400 or request.method == "GET":
            assert after == before, (request, answer)
        before = after
    assert sum(count for status, count in answers.items() if 400 <= status < 500) > requests / 6, answers


def test_a_sound_request_of_each_operation_is_no_bad_one(world: World) -> None:
    """Else the damaged ones would be refused for what they were before."""
    acme = matter(world, 3)
    ids = known(world, acme)
    for operation in OPERATIONS:
        rng = build_random(0, operation.label)
        answer = send(sound(rng, of_this_world(operation, acme), ids))
        assert answer.status in (200, 201, 202, 409, 412), (operation.label, answer)


def test_a_change_that_a_refused_request_makes_is_found_out(world: World) -> None:
    """The negative control: one row more, whichever table it is in."""
    acme = matter(world, 3)
    before = state(world)
    acme.world.query("UPDATE exhibits SET version = version + 1 WHERE id = :id", id=acme.exhibits[0])
    assert state(world) != before
