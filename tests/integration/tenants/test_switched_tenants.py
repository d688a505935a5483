"""Which stack may write for a tenant that moves, and a tenant that comes back to a point in time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.tenants.moves import (
    AT_ONCE,
    OTHER,
    TENANT,
    export_to,
    get_statuses,
    ignore,
    kill_at_each_statement,
    list_differences,
)
from tests.support.tenants.two_schemas import INCREMENT, Interrupted, Interruptions, Place
from tools.tenants.database import TenantToolError
from tools.tenants.moving.assignment import COUNTERS
from tools.tenants.moving.connection import Connection
from tools.tenants.moving.load import load_tenant
from tools.tenants.moving.switch import finish_restore, switch_back, switch_tenant


@pytest.mark.parametrize("after", [False, True])
def test_one_stack_at_most_may_write_wherever_a_switch_ends(
    places: tuple[Place, Place], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    source, target = places
    folder = export_to(source, tmp_path)
    load_tenant(target.stack, folder, ignore)
    assert get_statuses(source, target) == ["read_only", "suspended"]
    moves: tuple[tuple[Callable[[], str], list[str]], ...] = (
        (lambda: switch_tenant(source.stack, target.stack, folder, ignore), ["leaving", "active"]),
        (lambda: switch_back(source.stack, target.stack, folder, ignore), ["active", "suspended"]),
    )
    for move, end in moves:
        assert list_differences(source, target, folder) == []
        for at in range(1, 10):
            with monkeypatch.context() as patch:
                patch.setattr(Connection, "execute", Interruptions(at, after=after).wrap(Connection.execute))
                try:
                    move()
                except Interrupted:
                    assert get_statuses(source, target).count("active") <= 1
                    continue
            break
        assert get_statuses(source, target) == end
    with pytest.raises(TenantToolError, match="was not verified"):
        switch_tenant(source.stack, target.stack, folder, ignore)


def test_there_is_no_way_back_once_the_target_has_written(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, target = places
    folder = export_to(source, tmp_path)
    load_tenant(target.stack, folder, ignore)
    assert list_differences(source, target, folder) == []
    switch_tenant(source.stack, target.stack, folder, ignore)
    target.query("UPDATE activities SET summary = 'newer' WHERE tenant_id = %s LIMIT 1", TENANT)
    with pytest.raises(TenantToolError, match="has written"):
        switch_back(source.stack, target.stack, folder, ignore)
    assert get_statuses(source, target) == ["leaving", "active"]


def test_a_source_that_was_active_since_its_export_is_not_left(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, target = places
    folder = export_to(source, tmp_path)
    load_tenant(target.stack, folder, ignore)
    assert list_differences(source, target, folder) == []
    source.query("UPDATE tenants SET epoch = epoch + 2 WHERE tenant_id = %s", TENANT)
    with pytest.raises(TenantToolError, match="export it again"):
        switch_tenant(source.stack, target.stack, folder, ignore)
    assert get_statuses(source, target) == ["read_only", "suspended"]


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_a_tenant_comes_back_to_a_point_in_time_alone(
    places: tuple[Place, Place], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """The target stands for the live stack, with newer rows and higher counters, and the source for its clone."""
    clone, live = places
    folder, expected = export_to(clone, tmp_path, is_clone=True), clone.read(TENANT)
    load_tenant(live.stack, folder, ignore)
    names = tuple(row[0] for row in live.query("SELECT name FROM cases WHERE tenant_id = %s", TENANT))
    live.fill("newer", 90_000 * INCREMENT + 4)
    for table, column in (*((table, "tenant_id") for table in ("cases", "imports", "devices", "activities")),):
        live.query(f"UPDATE {table} SET {column} = %s WHERE tenant_id = 'newer'", TENANT)
    # Of a case that came since, a hold or a purge would not let the tenant come back (test_brought_back).
    unprotected = "UPDATE cases SET held_at = NULL, purge_after = NULL WHERE tenant_id = %s AND name NOT IN %s"
    live.query(unprotected, TENANT, names)
    live.query("UPDATE bates_sequences SET next_number = next_number + 1000")
    live.query("UPDATE import_profiles SET version = version + 5, options = 'newer' WHERE tenant_id = %s", TENANT)
    numbers, others = live.query("SELECT id, next_number FROM bates_sequences ORDER BY id"), live.read(OTHER)

    def bring_back() -> None:
        load_tenant(live.stack, folder, ignore, replace=True, waiting=AT_ONCE)

    kill_at_each_statement(bring_back, monkeypatch, after=after, step=7)
    assert list_differences(clone, live, folder) == []
    found = live.read(TENANT)
    special = (*COUNTERS, "import_profiles")
    assert {name: rows for name, rows in found.items() if name not in special} == {
        name: rows for name, rows in expected.items() if name not in special
    }
    assert live.query("SELECT id, next_number FROM bates_sequences ORDER BY id") == numbers
    versions = live.query("SELECT version FROM import_profiles WHERE tenant_id = %s", TENANT)
    assert all(int(version or 0) > 5 for (version,) in versions)
    assert live.read(OTHER) == others
    assert finish_restore(live.stack, folder) == TENANT
