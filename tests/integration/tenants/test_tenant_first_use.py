"""A tenant is created by its first request, once; or only by the operator, where the deployment says so."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

import start_import
from shell.settings import settings
from shell.tenants import first_use
from shell.tenants.first_use import forget_tenants, require_tenant
from tests.integration.imports.import_requests import THREE, announce, put
from tests.support.api.client import Client
from tests.support.application.driver import World, call
from tests.support.database.counted_database import together

ROWS = "SELECT tenant_id, status, epoch FROM tenants"


@pytest.fixture
def only_by_operator(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("TENANTS_BY_FIRST_USE", "false")
    settings.cache_clear()
    yield
    monkeypatch.undo()
    settings.cache_clear()


def test_fifty_first_requests_make_one_row_and_no_error(world: World) -> None:
    tenants = together(*[partial(first_use._create, "acme")] * 50)
    assert {each.tenant_id for each in tenants} == {"acme"}
    assert world.query(ROWS) == [("acme", "active", 0)]


def test_a_request_makes_the_row_and_a_refused_one_does_not(world: World) -> None:
    assert Client("no/slash").get("/cases").status == 403
    assert world.query(ROWS) == []
    assert Client("acme").get("/cases").status == 200
    assert world.query(ROWS) == [("acme", "active", 0)]


def test_a_tenant_that_the_operator_suspended_stays_so_at_its_first_request(world: World) -> None:
    world.query("INSERT INTO tenants (tenant_id, status) VALUES ('acme', 'suspended')")
    assert Client("acme").get("/cases").status == 403
    assert world.query(ROWS) == [("acme", "suspended", 0)]


def test_without_first_use_only_the_operator_creates_tenants(world: World, only_by_operator: None) -> None:
    refused = Client("acme").get("/cases")
    assert (refused.problem, world.query(ROWS)) == ("tenant-refused", [])
    world.query("INSERT INTO tenants (tenant_id) VALUES ('acme')")
    assert Client("acme").get("/cases").status == 200


def test_without_first_use_a_file_of_an_unknown_tenant_is_refused(world: World, only_by_operator: None) -> None:
    message = put(announce(), THREE)
    assert call(start_import.lambda_handler, message)
    assert world.query("SELECT event_type FROM outbox_events") == [("upload.refused",)]
    assert world.query("SELECT status FROM imports") == [("awaiting_upload",)]


def test_first_use_ends_at_a_number_of_tenants(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_use, "MAX_BY_FIRST_USE", 2)
    assert [Client(name).get("/cases").status for name in ("a", "b", "c", "a")] == [200, 200, 403, 200]


def test_a_process_reads_a_tenant_again_after_half_a_minute(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000.0
    monkeypatch.setattr(first_use, "time", SimpleNamespace(monotonic=lambda: now))
    require_tenant("acme")
    world.query("UPDATE tenants SET status = 'suspended'")
    now += 29
    assert require_tenant("acme").status == "active"
    now += 2
    assert require_tenant("acme").status == "suspended"
    forget_tenants()
