"""A tenant that comes back, to its stack or to a moment: what protects its cases, and which stack may write."""

from __future__ import annotations

from pathlib import Path

import pytest

from shell.aws import clients
from tests.support.tenants.moves import AT_ONCE, TENANT, export_to, get_statuses, ignore, list_differences
from tests.support.tenants.two_schemas import Place
from tools.tenants.database import TenantToolError
from tools.tenants.moving.load import load_tenant
from tools.tenants.moving.switch import finish_restore, switch_back, switch_tenant

LATE = f"imports/{TENANT}/Case/late.csv"


def move(source: Place, target: Place, folder: Path, *, replace: bool = False) -> list[str]:
    """The whole move; the lines that the switch reports."""
    export_to(source, folder)
    load_tenant(target.stack, folder, ignore, replace=replace, waiting=AT_ONCE)
    assert list_differences(source, target, folder) == []
    lines = list[str]()
    switch_tenant(source.stack, target.stack, folder, lines.append)
    return lines


def set_status(place: Place, status: str) -> None:
    """By another move, or by the operator."""
    place.query("UPDATE tenants SET status = %s, epoch = epoch + 1 WHERE tenant_id = %s", status, TENANT)


@pytest.mark.parametrize("since", ["held_at = NOW(6)", "purge_after = NULL", "status = 'purged'"])
def test_no_moment_is_chosen_at_which_a_hold_or_a_purge_was_another(
    places: tuple[Place, Place], tmp_path: Path, since: str
) -> None:
    clone, live = places
    clone.query("UPDATE cases SET status = 'closed', held_at = NULL, purge_after = '2031-01-31'")
    folder = export_to(clone, tmp_path, is_clone=True)
    load_tenant(live.stack, folder, ignore)
    set_status(live, "active")
    live.query(f"UPDATE cases SET {since} WHERE tenant_id = %s LIMIT 1", TENANT)
    before = live.read(TENANT)
    with pytest.raises(TenantToolError, match=r"the hold or the purge of cases [0-9]+ is not what it was"):
        load_tenant(live.stack, folder, ignore, replace=True, waiting=AT_ONCE)
    assert (live.read(TENANT), get_statuses(live)) == (before, ["active"])


def test_a_tenant_that_has_written_at_the_target_moves_back(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, target = places
    move(source, target, tmp_path / "there")
    target.query("UPDATE cases SET held_at = NOW(6) WHERE tenant_id = %s", TENANT)
    move(target, source, tmp_path / "back", replace=True)
    assert get_statuses(source, target) == ["active", "leaving"]
    assert source.query("SELECT COUNT(*) FROM cases WHERE tenant_id = %s AND held_at IS NULL", TENANT) == [(b"0",)]


def test_a_switch_that_is_repeated_after_the_next_move_activates_nothing(
    places: tuple[Place, Place], tmp_path: Path
) -> None:
    source, target = places
    move(source, target, tmp_path)
    set_status(target, "leaving")
    with pytest.raises(TenantToolError, match="is leaving here and cannot become active"):
        switch_tenant(source.stack, target.stack, tmp_path, ignore)
    set_status(target, "active")
    switch_back(source.stack, target.stack, tmp_path, ignore)
    assert get_statuses(source, target) == ["active", "suspended"]
    set_status(source, "leaving")
    with pytest.raises(TenantToolError, match="nothing was switched back"):
        switch_back(source.stack, target.stack, tmp_path, ignore)
    assert get_statuses(source, target) == ["leaving", "suspended"]


def test_what_a_stack_has_is_replaced_only_by_what_may_replace_it(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, target = places
    move(source, target, tmp_path / "moved")
    with pytest.raises(TenantToolError, match="only the export of a clone"):
        load_tenant(target.stack, tmp_path / "moved", ignore, replace=True, waiting=AT_ONCE)
    with pytest.raises(TenantToolError, match="in use"):
        finish_restore(target.stack, tmp_path / "moved")
    set_status(source, "active")
    folder = export_to(source, tmp_path / "clone", is_clone=True)
    set_status(target, "leaving")
    with pytest.raises(TenantToolError, match="has left this stack"):
        load_tenant(target.stack, folder, ignore, replace=True, waiting=AT_ONCE)


def test_work_that_was_requested_can_start_until_rows_are_replaced(places: tuple[Place, Place], tmp_path: Path) -> None:
    clone, live = places
    folder = export_to(clone, tmp_path, is_clone=True)
    load_tenant(live.stack, folder, ignore)
    set_status(live, "active")
    live.query("UPDATE imports SET status = 'splitting' WHERE tenant_id = %s LIMIT 1", TENANT)
    with pytest.raises(TenantToolError, match="imports 1"):
        load_tenant(live.stack, folder, ignore, replace=True, waiting=AT_ONCE)
    assert get_statuses(live) == ["read_only"]


def test_a_file_that_came_after_the_export_is_reported_by_the_switch(
    places: tuple[Place, Place], tmp_path: Path
) -> None:
    source, target = places
    load_tenant(target.stack, export_to(source, tmp_path), ignore)
    clients.s3().put_object(Bucket=source.bucket, Key=LATE, Body=b"Control Number")
    assert list_differences(source, target, tmp_path) == []
    lines = list[str]()
    switch_tenant(source.stack, target.stack, tmp_path, lines.append)
    assert [line.split(" version ")[0] for line in lines if LATE in line] == [f"no import yet: {LATE}"]
