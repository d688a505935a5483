"""While a tenant is suspended, nothing of it starts and nothing of it fails, however long that takes."""

from __future__ import annotations

from typing import Any

import pytest

from shell.tenants import starts
from tests.integration.imports.import_requests import THREE, announce, finish, put, start, state
from tests.support.application.driver import World, request_messages

# A message every 15 minutes for 20 days.
DELIVERIES = 20 * 24 * 4
SUSPENDED = "REPLACE INTO tenants (tenant_id, status) VALUES ('tenant', :status)"


@pytest.fixture(autouse=True)
def scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A delay of 15 minutes takes no time."""
    monkeypatch.setattr(starts, "POSTPONED_S", 0)


def set_status(world: World, status: str) -> None:
    world.query(SUSPENDED, status=status)


@pytest.mark.slow
def test_after_twenty_days_of_suspension_nothing_has_failed(world: World, race_counts: int) -> None:
    set_status(world, "suspended")
    pending = announce()
    sent = put(pending, THREE)
    message: Any = sent
    for _ in range(DELIVERIES // race_counts):
        assert start(message), "it is acknowledged, and never goes back to its queue"
        (message,) = request_messages()
        assert message == sent
    assert (state(pending.id).status, world.query("SELECT 1 FROM outbox_events")) == ("awaiting_upload", [])
    set_status(world, "active")
    assert start(message)
    finish(world)
    assert state(pending.id).status == "completed"


@pytest.mark.parametrize("status", ["suspended", "leaving"])
def test_a_file_that_is_to_be_split_is_not_read(world: World, status: str) -> None:
    pending = announce()
    put(pending, THREE)
    world.query("UPDATE imports SET status = 'splitting'")
    set_status(world, status)
    request = {"import_id": pending.id, "generation": 1}
    assert start(request)
    assert (request_messages(), state(pending.id).status) == ([request], "splitting")


def test_one_that_is_suspended_while_its_file_is_split_does_not_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    pending = announce()
    message = put(pending, THREE)
    monkeypatch.setattr("shell.imports.start.require_start", lambda _tenant: set_status(world, "suspended"))
    assert start(message)
    assert (state(pending.id).status, request_messages()) == ("splitting", [message])


def test_for_a_read_only_tenant_an_announced_file_is_imported_and_another_one_waits(world: World) -> None:
    pending = announce()
    set_status(world, "read_only")
    announced = put(pending, THREE)
    dropped = put(pending.model_copy(update={"object_key": "imports/tenant/Case/dropped/production.dat"}), THREE)
    assert start(announced)
    assert start(dropped)
    assert world.query("SELECT status FROM imports") == [("running",)]
    assert dropped in request_messages()


def test_what_has_begun_goes_on_to_its_end(world: World) -> None:
    pending = announce()
    assert start(put(pending, THREE))
    set_status(world, "suspended")
    finish(world)
    assert state(pending.id).status == "completed"
