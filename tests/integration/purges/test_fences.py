"""When a purge begins, what it waits for, and that no worker of before writes for the case any more."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import pytest

import complete_import
import import_chunk
import process_volume
import start_import
import start_production
import write_import_report
from core.purges.phases import PurgePhase
from shell.maintenance.purge import purge_expired
from shell.purges import fence, run
from shell.settings import settings
from tests.integration.purges.test_purged_cases import count_rows
from tests.support.application.driver import Handler, World, call, taken_from
from tests.support.purges.filled_cases import TENANT, FilledCase, fill_case
from tests.support.purges.runs import drive, end_pauses, has_ended, purge, request

# What was sent before the purge and is delivered after it, with the ids of a filled case.
MESSAGES: Mapping[str, tuple[Handler, Mapping[str, Any]]] = {
    "import": (start_import.lambda_handler, {"import_id": 1001, "generation": 1}),
    "chunk": (import_chunk.lambda_handler, {"import_id": 1001, "chunk_no": 101, "generation": 1, "redrive": 0}),
    "completion": (complete_import.lambda_handler, {"import_id": 1001, "generation": 1, "task": "complete"}),
    "undo": (start_import.lambda_handler, {"import_id": 1001, "undo_no": 101, "generation": 1, "task": "undo"}),
    "undo part": (import_chunk.lambda_handler, {"import_id": 1001, "undo_no": 101, "generation": 1, "chunk_no": 101}),
    "undo completion": (
        complete_import.lambda_handler,
        {"import_id": 1001, "undo_no": 101, "generation": 1, "task": "complete_undo"},
    ),
    "tagging job": (import_chunk.lambda_handler, {"job_id": 1001, "turn": 1}),
    "listing": (process_volume.lambda_handler, {"volume_id": 1001, "task": "list", "generation": 1}),
    "expansion": (process_volume.lambda_handler, {"volume_id": 1001, "task": "expand", "generation": 1, "unit_no": 1}),
    "hashing": (process_volume.lambda_handler, {"volume_id": 1001, "task": "hash", "generation": 1, "unit_no": 1}),
    "deletion": (process_volume.lambda_handler, {"volume_id": 1001, "task": "delete", "generation": 1}),
    "production": (start_production.lambda_handler, {"productionId": 1001, "generation": 1}),
    "export": (write_import_report.lambda_handler, {"exportId": 1001}),
    "report": (write_import_report.lambda_handler, {"importId": 1001, "generation": 1}),
    "check report": (
        write_import_report.lambda_handler,
        {"eventType": "import.checked", "importId": 1001, "generation": 1},
    ),
    "undo report": (
        write_import_report.lambda_handler,
        {"eventType": "import.undone", "importId": 1001, "undoNo": 101},
    ),
}
LATE_WRITERS = {"report", "check report"}


def phase(world: World) -> str:
    """The phase of the only purge."""
    return str(world.query("SELECT phase FROM case_purges")[0][0])


def row_counts_of(case: FilledCase) -> dict[str, int]:
    """The rows of the tables that are purged."""
    counts = count_rows()
    return {name: counts[name] for name in case.rows}


def test_a_purge_begins_on_its_day_and_never_under_a_hold(world: World) -> None:
    fill_case(world, 1, rows=1)
    request(world, 1)
    for change in (
        "purge_after = UTC_DATE() + INTERVAL 1 DAY",
        "purge_after = UTC_DATE(), held_at = NOW(6)",
        "held_at = NULL, status = 'open'",
    ):
        world.query(f"UPDATE cases SET {change}")
        assert not fence.begin_purge(1, TENANT)
        assert fence.find_due_cases() == []
    world.query("UPDATE cases SET status = 'closed'")
    assert fence.begin_purge(1, TENANT)
    assert not fence.begin_purge(1, TENANT)


@pytest.mark.parametrize("status", ["read_only", "suspended", "leaving"])
def test_a_purge_begins_for_an_active_tenant_alone(world: World, status: str) -> None:
    fill_case(world, 1, rows=1)
    request(world, 1)
    world.query("REPLACE INTO tenants (tenant_id, status) VALUES (:tenant, :status)", tenant=TENANT, status=status)
    assert not fence.begin_purge(1, TENANT)
    assert fence.find_due_cases() == []
    world.query("UPDATE tenants SET status = 'active'")
    assert fence.find_due_cases() == [(1, TENANT)]
    assert fence.begin_purge(1, TENANT)


def test_a_purge_that_cannot_begin_keeps_no_other_one_from_it(world: World) -> None:
    for number in (1, 2):
        fill_case(world, number, rows=1)
        request(world, number)
    # As after a tenant was brought back by hand.
    world.query("INSERT INTO case_purges (case_id, tenant_id, epoch, phase) VALUES (1, 'tenant', 1, 'end')")
    world.query("UPDATE case_purges SET ended_at = NOW(6)")
    run.take_purges_on()
    statuses = [row.status for row in world.query("SELECT status FROM cases ORDER BY id")]
    assert statuses == ["closed", "purging"]


def test_of_many_workers_one_begins_the_purge(world: World) -> None:
    fill_case(world, 1, rows=1)
    request(world, 1)
    begun: list[bool] = []
    barrier = threading.Barrier(2)

    def begin() -> None:
        barrier.wait()
        begun.append(fence.begin_purge(1, TENANT))

    workers = [threading.Thread(target=begin) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert sorted(begun) == [False, True]


def test_the_hourly_purge_wakes_a_worker(world: World) -> None:
    fill_case(world, 1, rows=1)
    purge_expired()
    assert taken_from(settings().case_purges_queue_url) == []
    request(world, 1)
    purge_expired()
    assert len(taken_from(settings().case_purges_queue_url)) == 1


def test_a_production_past_its_pivot_completes_first(world: World) -> None:
    case = fill_case(world, 1, rows=1)
    world.query("UPDATE productions SET is_open = 1")
    request(world, 1)
    run.take_purges_on()
    assert phase(world) == PurgePhase.PRODUCTIONS
    assert row_counts_of(case) == case.rows
    world.query("UPDATE productions SET is_open = 0")
    end_pauses(world)
    run.take_purges_on()
    assert phase(world) == PurgePhase.OBJECTS_AGAIN


def test_a_hold_that_is_set_by_hand_stops_a_purge_until_it_is_lifted(world: World) -> None:
    case = fill_case(world, 1, rows=1)
    request(world, 1)
    assert fence.begin_purge(1, TENANT)
    world.query("UPDATE cases SET held_at = NOW(6)")
    run.take_purges_on()
    assert row_counts_of(case) == case.rows
    world.query("UPDATE cases SET held_at = NULL")
    end_pauses(world)
    run.take_purges_on()
    assert row_counts_of(case) != case.rows


@pytest.mark.parametrize("is_gone", [False, True], ids=["purging", "purged"])
def test_messages_of_before_are_acknowledged_and_write_nothing(world: World, *, is_gone: bool) -> None:
    case = fill_case(world, 1)
    world.query("UPDATE imports SET status = 'running', chunks_left = 1")
    world.query("UPDATE import_chunks SET status = 'pending'")
    world.query("UPDATE import_undos SET status = 'running'")
    world.query("UPDATE exports SET status = 'running'")
    if is_gone:
        purge(world, 1)
    else:
        request(world, 1)
        run.take_purges_on()
        assert not has_ended(world, 1)
    before = row_counts_of(case)
    for name, (handler, message) in MESSAGES.items():
        assert call(handler, message), name
        after = row_counts_of(case)
        # A report that is written late adds rows and objects, which the second pass destroys.
        assert after == before or (name in LATE_WRITERS and not is_gone), name
        before = after
    if not is_gone:
        drive(world, 1)
    assert set(row_counts_of(case).values()) == {0}
