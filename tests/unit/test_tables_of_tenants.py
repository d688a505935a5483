"""Each table has its place when a tenant moves: one that was added without a place fails here."""

from __future__ import annotations

import pytest
from sqlalchemy import MetaData

from shell.tables import metadata
from tools.tenants.moving.assignment import COUNTERS, KEYS, LARGE, MOVED, NOT_MOVED, PROFILES, TABLES, TENANT, Scope


def find_faults(tables: MetaData, moved: tuple[Scope, ...]) -> list[str]:
    """What the lists say of tables wrongly."""
    named = {scope.table for scope in moved}
    known = set(tables.tables)
    faults = [f"{name}: neither moved nor named as what stays" for name in known - named - set(NOT_MOVED)]
    faults += [f"{name}: does not exist" for name in (named | set(NOT_MOVED)) - known]
    return faults + [f"{name}: both" for name in named & set(NOT_MOVED)]


def test_each_table_is_moved_or_stays() -> None:
    assert find_faults(metadata(), MOVED) == []


@pytest.mark.parametrize("table", [scope.table for scope in MOVED])
def test_a_table_without_a_place_is_found(table: str) -> None:
    assert find_faults(metadata(), tuple(scope for scope in MOVED if scope.table != table))


def test_rows_are_found_by_a_column_of_their_table_and_parents_come_first() -> None:
    order = list(TABLES)
    for scope in MOVED:
        columns = metadata().tables[scope.table].columns
        assert scope.column in columns or scope.table == "insert_destinations"
        if scope.parent != TENANT:
            assert order.index(scope.parent) < order.index(scope.table)
            assert KEYS.get(scope.parent, "id") in metadata().tables[scope.parent].columns


def test_rows_come_after_the_rows_of_their_foreign_keys() -> None:
    order = list(TABLES)
    for table in metadata().sorted_tables:
        for key in table.foreign_keys:
            assert order.index(key.column.table.name) < order.index(table.name)


def test_a_table_with_a_tenant_is_found_by_it() -> None:
    """Else a row whose case or import is gone would stay."""
    for scope in MOVED:
        if "tenant_id" in metadata().tables[scope.table].columns:
            assert (scope.column, scope.parent) == ("tenant_id", TENANT)


def test_what_is_special_exists() -> None:
    assert {*COUNTERS, PROFILES, *KEYS, *LARGE} <= set(TABLES)
    for table, counters in COUNTERS.items():
        assert set(counters) <= set(metadata().tables[table].columns.keys())
