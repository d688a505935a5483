"""Whatever a client sends, the API answers; and what it refuses has changed nothing.

`tests/integration/api/test_responses.py` asks by the document; here requests that succeed (`test_access_tenants.py`)
are damaged past what a schema can say, and the database is compared after each.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from urllib.parse import unquote

import pytest

from local.gateway.events import HttpRequest, HttpResponse
from samples.words import build_random
from tests.support.api.client import TOKENS, gateway
from tests.torture.access.calls import ApiRequest
from tests.torture.access.invalid_requests import Request, damaged
from tests.torture.access.openapi_places import places
from tests.torture.access.table_rows import Row
from tests.torture.access.two_tenants import Matrix

pytestmark = pytest.mark.slow

MANY = 400
# Unless all counts are full, the first forty of them are sent.
REQUESTS = MANY if os.environ.get("RACE_COUNTS") == "full" else MANY // 10
# Most of what is damaged in these is a text to search for, and any will do: a few requests may hold one refusal alone.
NEARLY_FREE = {"GET /tags"}
GATEWAY_ALONE = {401, 404, 413}


def sound(valid: ApiRequest) -> Request:
    """The request as it goes over the wire, but for who asks."""
    return Request(valid.method, valid.path, valid.query, tuple(valid.headers([])), valid.body)


def send(request: Request, matrix: Matrix) -> HttpResponse:
    """The answer of the API in this process, with a token."""
    token = TOKENS.issue(matrix.ours.name, matrix.ours.user)
    headers = [("authorization", f"Bearer {token}"), *request.headers]
    path = unquote(request.path, errors="replace")
    return gateway().handle(HttpRequest(request.method, path, request.query, headers, request.body, "127.0.0.1"))


def effects(matrix: Matrix) -> dict[str, list[Row]]:
    """The rows of each table that is not as it was, which are put back."""
    changed = matrix.kept.put_back(matrix.world.engine)
    kept = {table: matrix.kept.rows[table] for table in changed}
    before, after = (
        {table: [row for row in rows if not is_as_good_as_none(table, row)] for table, rows in each.items()}
        for each in (kept, changed)
    )
    return {table: rows for table, rows in after.items() if rows != before[table]}


def is_as_good_as_none(table: str, row: Row) -> bool:
    """A key that is free again, and a device that has had no holder yet: its row is there for writers to meet on."""
    return (table == "idempotency_keys" and row["status"] == "released") or (table == "devices" and row["version"] == 1)


def check(request: Request, answer: HttpResponse) -> None:
    """An answer is not a failure, and a refusal says what it is."""
    outages = (b"urn:exhibit-ingest:problem:unavailable", b"urn:exhibit-ingest:problem:waking-up")
    assert answer.status < 500 or (answer.status == 503 and any(each in answer.body for each in outages))
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


@pytest.mark.parametrize("route", places())
def test_a_damaged_request_is_answered_and_a_refused_one_changes_nothing(matrix: Matrix, route: str) -> None:
    own = [each.request for each in matrix.checks if not each.place and each.request.route == route]
    answers: Counter[int] = Counter()
    for number in range(REQUESTS):
        rng = build_random(number, route)
        request = damaged(rng, sound(rng.choice(own)))
        answer = send(request, matrix)
        answers[answer.status] += 1
        check(request, answer)
        changed = effects(matrix)
        if answer.status >= 400 or request.method == "GET":
            assert changed == {}, (request, answer)
    refused = sum(count for status, count in answers.items() if 400 <= status < 500)
    is_free = route in NEARLY_FREE and REQUESTS < MANY
    assert refused > (0 if is_free else REQUESTS / 6), answers


def test_a_change_that_a_refused_request_makes_is_found_out(matrix: Matrix) -> None:
    """The negative control: one row that is another, whichever table it is in."""
    assert effects(matrix) == {}
    exhibit = matrix.ours.ids["exhibits"][0]
    matrix.world.query("UPDATE exhibits SET version = version + 1 WHERE id = :id", id=exhibit)
    assert set(effects(matrix)) == {"exhibits"}
