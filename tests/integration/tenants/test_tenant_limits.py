"""Limits count what is under way, in the transaction that starts it, and let through exactly what they allow."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, text

from core.tenants.errors import LimitReachedError
from shell.tenants import request_rate, starts
from shell.tenants.first_use import forget_tenants
from shell.tenants.records import find_tenant, lock_counted_tenant
from tests.integration.imports.import_requests import SIX, THREE, announce, put, start, state
from tests.support.api.client import Client
from tests.support.application.driver import World, request_messages
from tests.support.database.counted_database import Database, barrier, outcome, together, transaction

CLIENT = Client("tenant", "ann@example.com")
UNDER_WAY = "SELECT COUNT(*) FROM imports WHERE status = 'splitting'"
START = "UPDATE imports SET status = 'splitting', wanted = 'import'"
STARTS = 20


def limit(world: World, **limits: int) -> None:
    world.query("REPLACE INTO tenants (tenant_id, limits) VALUES ('tenant', :limits)", limits=json.dumps(limits))
    forget_tenants()


def held(world: World, count: int) -> Sequence[int]:
    """Imports that are uploaded and held, ready to be started."""
    ids = [announce(fileName=f"{number}.dat").id for number in range(count)]
    world.query("UPDATE imports SET status = 'uploaded', wanted = 'hold', phase = 'check'")
    return ids


def start_one(engine: Engine, import_id: int, lock: Callable[..., Any], together_at: threading.Barrier | None) -> None:
    with transaction(engine) as starting, starts.counting_starts(starting, lock(starting, "tenant")):
        if together_at is not None:
            together_at.wait()
        starting.execute(text(f"{START} WHERE id = :id"), {"id": import_id})


@pytest.mark.parametrize(
    ("lock", "is_exact"),
    [(lock_counted_tenant, True), pytest.param(find_tenant, False, id="negative control: no lock")],
)
def test_of_twenty_starts_at_once_a_limit_of_three_lets_three_through(
    world: World, database: Database, lock: Callable[..., Any], is_exact: bool
) -> None:
    ids = held(world, STARTS)
    limit(world, running_imports=3)
    meeting = None if is_exact else barrier(STARTS)
    with database.environments(STARTS) as engines:
        pairs = zip(engines, ids, strict=True)
        tries = [outcome(partial(start_one, engine, each, lock, meeting)) for engine, each in pairs]
        ends = together(*tries)
    started = world.query(UNDER_WAY)[0][0]
    assert (started == 3) is is_exact
    assert [type(each) for each in ends if each is not None] == [LimitReachedError] * (STARTS - started)


def test_a_start_by_the_api_beyond_the_limit_is_refused_with_a_sentence(world: World) -> None:
    first, second = held(world, 2)
    limit(world, running_imports=1)
    paths = [f"/imports/{each}/run" for each in (first, second)]
    assert CLIENT.post(paths[0], {}).status == 200
    refused = CLIENT.post(paths[1], {})
    assert (refused.status, refused.problem, refused.headers["retry-after"]) == (409, "limit-reached", "60")
    assert refused.json["detail"] == (
        "Your tenant may have 1 imports under way at once, and has 1. Try again when one has ended."
    )
    assert world.query("SELECT status FROM imports ORDER BY id") == [("splitting",), ("uploaded",)]
    world.query("UPDATE imports SET status = 'completed' WHERE status = 'splitting'")
    assert CLIENT.post(paths[1], {}).status == 200


def test_a_lower_limit_stops_nothing_and_refuses_no_other_change(world: World) -> None:
    ids = held(world, 3)
    world.query(START)
    limit(world, running_imports=1)
    assert CLIENT.post(f"/imports/{ids[0]}/cancel").status == 200
    assert world.query(UNDER_WAY) == [(2,)]


def test_a_file_beyond_the_limit_waits_in_its_queue(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starts, "RETRY_AFTER_S", 0)
    limit(world, running_imports=1)
    busy, pending = announce(fileName="busy.dat"), announce()
    world.query("UPDATE imports SET status = 'running' WHERE id = :id", id=busy.id)
    message = put(pending, THREE)
    assert start(message)
    assert state(pending.id).status == "awaiting_upload"
    (again,) = request_messages()
    assert again == message
    world.query("UPDATE imports SET status = 'completed' WHERE id = :id", id=busy.id)
    assert start(again)
    assert state(pending.id).status == "running"


def test_rows_beyond_those_of_a_day_fail_the_import_which_a_retry_of_another_day_runs(world: World) -> None:
    limit(world, rows_per_day=8)
    first, second = announce(fileName="first.dat"), announce(fileName="second.dat")
    assert start(put(first, SIX))
    assert start(put(second, THREE))
    refused = state(second.id)
    assert (state(first.id).status, refused.status, refused.failure_code) == ("running", "failed", "ROWS_PER_DAY")
    assert "the imports of the day have 9 rows, and the tenant may import 8 a day" in str(refused.failure_message)
    assert "retry" in refused.actions
    assert world.query("SELECT COUNT(*) FROM import_chunks WHERE import_id = :id", id=second.id) == [(0,)]
    world.query("UPDATE imports SET started_at = started_at - INTERVAL 1 DAY WHERE id = :id", id=first.id)
    assert CLIENT.post(f"/imports/{second.id}/retry").status == 200
    for message in request_messages():
        start(message)
    assert state(second.id).status == "running"


@pytest.mark.parametrize("redis", [False, True])
def test_more_requests_in_a_second_than_the_limit_are_refused(
    world: World, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, redis: bool
) -> None:
    if redis:
        request.getfixturevalue("with_redis")
    now = 1_000.0
    monkeypatch.setattr(request_rate, "time", SimpleNamespace(time=lambda: now))
    limit(world, requests_per_second=2)
    replies = [CLIENT.get("/cases") for _ in range(3)]
    assert [each.status for each in replies] == [200, 200, 429]
    assert (replies[2].problem, replies[2].headers["retry-after"]) == ("too-many-requests", "1")
    assert Client("other").get("/cases").status == 200
    now += 1
    assert CLIENT.get("/cases").status == 200
