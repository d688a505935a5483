"""Rows of a tenant in another database: all of them, exactly, once, whatever ended in between; no other tenant's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from shell.aws import clients
from tests.support.tenants.moves import (
    AT_ONCE,
    KEY,
    OTHER,
    TENANT,
    export_to,
    ignore,
    kill_at_each_statement,
    list_differences,
)
from tests.support.tenants.two_schemas import INCREMENT, Place
from tools.tenants.database import TenantToolError
from tools.tenants.moving import row_loader
from tools.tenants.moving.assignment import COUNTERS, TABLES
from tools.tenants.moving.connection import Connection
from tools.tenants.moving.load import load_tenant
from tools.tenants.moving.manifest import read_manifest
from tools.tenants.moving.switch import switch_tenant
from tools.tenants.moving.verify import compare_rows


def test_every_table_and_column_arrives_as_it_was(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, target = places
    expected, others = source.read(TENANT), target.read(OTHER)
    assert all(expected.values()), "a table without rows shows nothing"
    folder = export_to(source, tmp_path)
    load_tenant(target.stack, folder, ignore)
    assert target.read(TENANT) == expected
    assert (source.read(TENANT), target.read(OTHER)) == (expected, others)
    assert list_differences(source, target, folder) == []
    load_tenant(target.stack, folder, ignore)
    assert target.read(TENANT) == expected
    assert target.query("SELECT status FROM tenants WHERE tenant_id = %s", TENANT) == [(b"suspended",)]


def test_new_ids_of_the_target_are_its_own_and_above_the_moved_ones(
    places: tuple[Place, Place], tmp_path: Path
) -> None:
    source, target = places
    load_tenant(target.stack, export_to(source, tmp_path), ignore)
    with Connection(target.stack.database) as database:
        database.execute("INSERT INTO cases (tenant_id, name) VALUES ('new', 'new')")
        ((new,),) = database.read("SELECT id FROM cases WHERE tenant_id = 'new'")
        ((highest,),) = database.read("SELECT MAX(id) FROM cases WHERE tenant_id <> 'new'")
    assert int(new or 0) % INCREMENT == target.cell + 1
    assert int(new or 0) > int(highest or 0)


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_a_load_that_was_killed_anywhere_is_completed_by_the_next(
    places: tuple[Place, Place], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    source, target = places
    folder, expected = export_to(source, tmp_path), source.read(TENANT)
    kill_at_each_statement(lambda: load_tenant(target.stack, folder, ignore), monkeypatch, after=after)
    assert target.read(TENANT) == expected
    assert list_differences(source, target, folder) == []


def test_without_the_look_at_what_is_there_a_repetition_fails(
    places: tuple[Place, Place], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The negative control."""
    source, target = places
    folder = export_to(source, tmp_path)
    load_tenant(target.stack, folder, ignore)
    monkeypatch.setattr(row_loader.RowLoader, "find", lambda *_: {})
    with pytest.raises(TenantToolError, match="has another row with the key"):
        load_tenant(target.stack, folder, ignore)


def test_a_row_that_is_missing_in_any_table_is_named_and_loaded_again(
    places: tuple[Place, Place], tmp_path: Path
) -> None:
    source, target = places
    folder = export_to(source, tmp_path)
    load_tenant(target.stack, folder, ignore)
    expected = target.read(TENANT)
    target.delete_a_row_of_each_table(TENANT)
    found = "\n".join(compare_rows(target.stack, read_manifest(folder), folder))
    assert [table for table in TABLES if f"{table}, " not in found] == []
    load_tenant(target.stack, folder, ignore)
    assert target.read(TENANT) == expected


def test_a_row_with_another_value_is_named_and_not_overwritten(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, target = places
    folder = export_to(source, tmp_path)
    load_tenant(target.stack, folder, ignore)
    imports = "SELECT id FROM imports WHERE tenant_id = %s"
    target.query(f"UPDATE exhibits SET file_name = 'other' WHERE import_id IN ({imports}) LIMIT 1", TENANT)
    (line,) = list_differences(source, target, folder)
    assert line.startswith("target: exhibits, import_id ")
    assert line.endswith("rows with other values")
    with pytest.raises(TenantToolError, match="nothing was overwritten"):
        load_tenant(target.stack, folder, ignore)
    with pytest.raises(TenantToolError, match="was not verified"):
        switch_tenant(source.stack, target.stack, folder, ignore)
    load_tenant(target.stack, folder, ignore, replace=True, waiting=AT_ONCE)
    assert list_differences(source, target, folder) == []


def test_a_tenant_with_work_in_progress_is_not_exported(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, _ = places
    source.query("UPDATE imports SET status = 'running' WHERE tenant_id = %s LIMIT 1", TENANT)
    with pytest.raises(TenantToolError, match="imports 1"):
        export_to(source, tmp_path)
    assert not list(tmp_path.iterdir())


def test_documents_of_no_import_of_the_tenant_are_not_left_behind(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, _ = places
    cases = "SELECT MAX(id) FROM cases WHERE tenant_id = %s"
    source.query(f"UPDATE exhibits SET import_id = 1, case_id = ({cases})", TENANT)
    with pytest.raises(TenantToolError, match="of no import of it"):
        export_to(source, tmp_path)


def test_a_stack_that_issues_the_same_ids_or_lets_the_tenant_write_is_refused(
    places: tuple[Place, Place], tmp_path: Path
) -> None:
    source, target = places
    folder = export_to(source, tmp_path)
    with pytest.raises(TenantToolError, match="issue the same ids"):
        load_tenant(replace(target, cell=source.cell).stack, folder, ignore)
    target.query("INSERT INTO tenants (tenant_id) VALUES (%s)", TENANT)
    with pytest.raises(TenantToolError, match="cannot become suspended"):
        load_tenant(target.stack, folder, ignore)


def test_a_version_that_is_missing_or_has_other_bytes_is_named(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, target = places
    folder = export_to(source, tmp_path)
    load_tenant(target.stack, folder, ignore)
    first, second = clients.s3().list_object_versions(Bucket="target", Prefix="imports/")["Versions"]
    clients.s3().delete_object(Bucket="target", Key=KEY, VersionId=first["VersionId"])
    (line,) = list_differences(source, target, folder)
    assert line.startswith(f"object {KEY} version {first['VersionId']}: missing")
    load_tenant(target.stack, folder, ignore)
    assert list_differences(source, target, folder) == []
    assert second["VersionId"] != first["VersionId"]


def test_a_file_of_rows_that_was_changed_is_refused(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, target = places
    folder = export_to(source, tmp_path)
    file = next(folder.glob("cases-*.gz"))
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(TenantToolError, match="is not what was written"):
        load_tenant(target.stack, folder, ignore)


def test_counters_are_never_lowered_and_lock_ids_are_drawn_again(places: tuple[Place, Place], tmp_path: Path) -> None:
    source, target = places
    folder = export_to(source, tmp_path)
    ((lock,), *_) = source.query("SELECT advisory_id FROM insert_destinations ORDER BY id LIMIT 1")
    target.query("UPDATE insert_destinations SET advisory_id = %s ORDER BY id LIMIT 1", int(lock))
    load_tenant(target.stack, folder, ignore)
    assert list_differences(source, target, folder) == []
    ids = target.query("SELECT advisory_id FROM insert_destinations")
    assert len(set(ids)) == len(ids)
    for table, names in COUNTERS.items():
        for change in ("+ 5", "- 9"):
            changes = ", ".join(f"{name} = {name} {change}" for name in names)
            target.query(f"UPDATE {table} SET {changes}")
            before = target.query(f"SELECT id, {', '.join(names)} FROM {table} ORDER BY id")
            is_lower = list(compare_rows(target.stack, read_manifest(folder), folder)) != []
            assert is_lower == (change == "- 9"), table
            load_tenant(target.stack, folder, ignore)
            after = target.query(f"SELECT id, {', '.join(names)} FROM {table} ORDER BY id")
            assert all(tuple(map(int, new)) >= tuple(map(int, old)) for new, old in zip(after, before, strict=True))
            assert list_differences(source, target, folder) == []
