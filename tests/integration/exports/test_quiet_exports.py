"""The message of an export is lost: the purge announces the export again, once it has stood still."""

from __future__ import annotations

import json

import pytest

import purge_expired
from shell.exports import quiet, worker
from tests.integration.exports.conftest import Exporter
from tests.support.api.client import Client
from tests.support.application.driver import Context, World
from tests.support.exhibits.stored_cases import get_or_create_case, put_exhibits

EVENTS = "SELECT payload FROM outbox_events WHERE event_type = 'export.requested' ORDER BY id"


def announced(world: World) -> list[tuple[str, int]]:
    """The exports that a run of the purge announces, with their tenants."""
    before = len(world.query(EVENTS))
    purge_expired.lambda_handler({}, Context())
    found = [json.loads(row[0]) for row in world.query(EVENTS)[before:]]
    return sorted((each["tenantId"], each["exportId"]) for each in found)


def stand_still(world: World, export_id: int, minutes: int) -> None:
    world.query(
        "UPDATE export_parts SET created_at = created_at - INTERVAL :m MINUTE WHERE export_id = :export",
        m=minutes,
        export=export_id,
    )


@pytest.fixture
def exports(exporter: Exporter, world: World) -> list[int]:
    """Three exports of two tenants, of which nothing has been heard for 21 minutes."""
    for tenant in ("tenant", "other"):
        put_exhibits(world, get_or_create_case(world, "Case", tenant), ["A-1", "A-2"])
    made = [exporter.request("documents")["id"] for _ in range(2)]
    body = {"case": "Case", "kind": "documents", "format": "csv"}
    made.append(Client("other", "eve").post("/exports", body).json["id"])
    for each in made:
        stand_still(world, each, 21)
    return made


def test_exports_that_stand_still_are_announced_in_their_tenants(
    exporter: Exporter, world: World, exports: list[int]
) -> None:
    first, second, other = exports
    assert announced(world) == [("other", other), ("tenant", first), ("tenant", second)]
    assert exporter.work(first)
    assert exporter.client.post(f"/exports/{second}/cancel").status == 200
    stand_still(world, first, 21)
    assert announced(world) == [("other", other)], "those that have ended are not"


@pytest.mark.usefixtures("small_parts")
def test_progress_counts_and_two_messages_write_one_file(exporter: Exporter, world: World, exports: list[int]) -> None:
    first = exports[0]
    while not exporter.get(first)["documents"]:
        worker.write_next_part(first, lambda: False)
    assert ("tenant", first) not in announced(world)
    stand_still(world, first, 21)
    assert ("tenant", first) in announced(world)
    assert [exporter.work(first), exporter.work(first)] == [True, True]
    assert exporter.file(first).count(b"\n") == 3
    assert exporter.get(first)["documents"] == 2


def test_a_run_announces_so_many(world: World, exports: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet, "BATCH", 2)
    assert len(set(announced(world))) == 2
