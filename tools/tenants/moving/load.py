"""Load an exported tenant into a stack: first its rows, then, between stacks of this machine, its objects.

Guaranteed: rows keep their ids and values, but for what names the stack. However often this is killed and repeated,
each row is there once in the end: of a batch that is there already, only missing rows are inserted, and a row that
differs is an error, never overwritten. The tenant is suspended here until `switch`, so no request and no message
changes anything. Rows come before objects: a notification of the target's S3 for an object finds its import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from tools.tenants.database import TenantToolError
from tools.tenants.moving.assignment import COUNTERS, PROFILES
from tools.tenants.moving.cell_fields import CellFields
from tools.tenants.moving.connection import Connection
from tools.tenants.moving.counters import merge_counters, merge_profiles
from tools.tenants.moving.export import describe_database
from tools.tenants.moving.manifest import read_manifest, read_objects
from tools.tenants.moving.open_work import Waiting, wait_until_quiet
from tools.tenants.moving.protected_cases import refuse_other_protection
from tools.tenants.moving.removal import remove_rows
from tools.tenants.moving.row_files import read_rows
from tools.tenants.moving.row_loader import RowLoader
from tools.tenants.moving.stacks import Stack
from tools.tenants.moving.statuses import (
    ACTIVE,
    LEAVING,
    READ_ONLY,
    SUSPENDED,
    change_status,
    create_tenant,
    get_status,
)
from tools.tenants.moving.stored_copies import copy_versions
from tools.tenants.moving.tenant_rows import TenantRows

_REASON = "The tenant is being moved here."
_BATCH = 500
_ADVANCE_SEQUENCE = "UPDATE outbox_state SET last_sequence = GREATEST(last_sequence, %s) WHERE id = 1"


def load_tenant(
    target: Stack, folder: Path, report: Callable[[str], None], *, replace: bool = False, waiting: Waiting | None = None
) -> None:
    """Load a folder that `export_tenant` has written; `replace` first deletes what the stack has of the tenant.

    Raises TenantToolError if the stack has another schema, issues the same ids, or if the tenant may write in it; if it
    has other rows with these ids; and, with `replace`, if a hold or a purge would be lost or come back.
    """
    manifest = read_manifest(folder)
    with TenantRows(target.database, manifest["tenant"]) as rows:
        _check_database(rows.connection, manifest, replace=replace)
        create_tenant(rows.connection, rows.tenant, SUSPENDED, _REASON)
        if replace:
            with _checked(rows, manifest, folder):
                _wait(target, rows, waiting or Waiting(), report)
        allowed = (SUSPENDED, READ_ONLY) if replace else (SUSPENDED,)
        change_status(rows.connection, rows.tenant, SUSPENDED, allowed, _REASON)
        if replace:
            remove_rows(rows, report)
        rows.connection.execute(_ADVANCE_SEQUENCE, (manifest["last_sequence"],))
        for table, stated in manifest["tables"].items():
            _load_table(rows, table, stated, (folder, manifest["bucket"], target.bucket), replace=replace)
            report(f"{table}: {sum(each['rows'] for each in stated['files']):,} rows")
    original, copy = (manifest["storage"], manifest["bucket"]), (target.storage, target.bucket)
    if all(original + copy) and original != copy:
        copied = copy_versions(manifest, target, read_objects(folder, manifest))
        report(f"objects: {copied:,} versions copied")


def _check_database(database: Connection, manifest: dict[str, Any], *, replace: bool) -> None:
    here = describe_database(database)
    if here["revision"] != manifest["revision"]:
        raise TenantToolError(
            f"the tenant was exported from schema {manifest['revision']}, and this is {here['revision']}; "
            "deploy the same version on both"
        )
    if here["ids"] == manifest["ids"] and not replace:
        raise TenantToolError(
            f"both databases issue the same ids (offset {here['ids']['offset']} of {here['ids']['increment']}); "
            "deploy the target with another CellNumber, or use --replace to bring a tenant back in its own stack"
        )


@contextmanager
def _checked(rows: TenantRows, manifest: dict[str, Any], folder: Path) -> Iterator[None]:
    """Raise TenantToolError, before the block or behind it, if what the rows are replaced by must not replace them."""
    status = get_status(rows.connection, rows.tenant)
    if not manifest["clone"]:
        if status == ACTIVE:
            raise TenantToolError(f"{rows.tenant} is active here; only the export of a clone replaces what it has")
        yield
        return
    if status == LEAVING:
        raise TenantToolError(f"{rows.tenant} has left this stack; bring it back in the one that it is in now")
    refuse_other_protection(rows, manifest, folder)
    yield
    # A request that was under way may have placed a hold meanwhile.
    refuse_other_protection(rows, manifest, folder)


def _wait(target: Stack, rows: TenantRows, waiting: Waiting, report: Callable[[str], None]) -> None:
    """Make the tenant read-only, so that work which was requested can start and end, and wait for that."""
    if get_status(rows.connection, rows.tenant) != SUSPENDED:
        change_status(rows.connection, rows.tenant, READ_ONLY, (ACTIVE, READ_ONLY, LEAVING), _REASON)
    wait_until_quiet(target, rows, waiting, report)


def _load_table(
    rows: TenantRows, table: str, stated: dict[str, Any], places: tuple[Path, str, str], *, replace: bool
) -> None:
    folder, source_bucket, target_bucket = places
    columns = rows.list_columns(table)
    if [column.name for column in columns] != stated["columns"]:
        raise TenantToolError(f"table {table} has other columns here; deploy the same version on both")
    fields = CellFields(table, stated["columns"], source_bucket, target_bucket)
    loaded = (fields.adapt(row) for each in stated["files"] for row in read_rows(folder, each))
    loader = RowLoader(rows.connection, table, columns)
    if table == PROFILES and replace:
        merge_profiles(loader, rows.tenant, list(loaded))
        return
    while batch := list(islice(loaded, _BATCH)):
        if table in COUNTERS:
            merge_counters(loader, table, batch)
        else:
            loader.load(batch)
