"""Make the target the stack that may write for a tenant, or make the source it again.

Guaranteed: at no moment may both write, wherever this is killed: the stack that gives the tenant up is changed first
and the one that takes it last, each in one statement, and a repetition goes on; one that comes late, after the tenant
has left its target too, is refused. Once the target has written anything,
there is no way back but a second move: `switch_back` compares every row before it decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from tools.tenants.database import TenantToolError
from tools.tenants.moving.connection import Connection
from tools.tenants.moving.export import report_unread
from tools.tenants.moving.manifest import VERIFIED, read_manifest
from tools.tenants.moving.stacks import Stack
from tools.tenants.moving.statuses import ACTIVE, LEAVING, READ_ONLY, SUSPENDED, change_status, get_epoch, get_status
from tools.tenants.moving.tenant_rows import TenantRows
from tools.tenants.moving.verify import compare_rows, is_verified

_LEFT = "The tenant has moved to another stack."
_MOST_NAMED = 20


def switch_tenant(source: Stack, target: Stack, folder: Path, report: Callable[[str], None]) -> str:
    """Have the target write for the tenant, and return its name; report files of the source that no import has read.

    Raises TenantToolError unless `verify` found no difference, and the source is read-only since the export.
    """
    manifest = _read_verified(folder)
    tenant = str(manifest["tenant"])
    with TenantRows(source.database, tenant) as rows:
        # Read-only since the export, or already leaving, by this command.
        if _read_state(rows.connection, manifest) not in ((READ_ONLY, 0), (LEAVING, 1)):
            raise TenantToolError(f"{tenant} has not been read-only at the source since its export; export it again")
        change_status(rows.connection, tenant, LEAVING, (READ_ONLY, LEAVING), _LEFT)
        # Put since the export, they were listed in no manifest; from now on none is imported here.
        report_unread(source, rows, report)
    _activate(target, tenant, (SUSPENDED,))
    return tenant


def finish_restore(target: Stack, folder: Path) -> str:
    """Have a stack write again for a tenant that was brought back in it, whose clone is deleted.

    Raises TenantToolError if the export is not of a clone, or the tenant has left the stack since.
    """
    manifest = _read_verified(folder)
    if not manifest["clone"]:
        raise TenantToolError("the export is of a stack that is in use; name it with --source instead of --restored")
    tenant = str(manifest["tenant"])
    _activate(target, tenant, (SUSPENDED,))
    return tenant


def switch_back(source: Stack, target: Stack, folder: Path, report: Callable[[str], None]) -> str:
    """Have the source write for the tenant again.

    Raises TenantToolError, and changes nothing, if the target has written.
    """
    manifest = read_manifest(folder)
    tenant = str(manifest["tenant"])
    with Connection(source.database) as database:
        if _read_state(database, manifest) not in ((READ_ONLY, 0), (LEAVING, 1), (ACTIVE, 1), (ACTIVE, 2)):
            raise TenantToolError(f"the status of {tenant} at the source was changed since; nothing was switched back")
    with Connection(target.database) as database:
        change_status(database, tenant, SUSPENDED, (ACTIVE, SUSPENDED, READ_ONLY), "The tenant moves back.")
        written = list(compare_rows(target, manifest, folder))
        for line in written[:_MOST_NAMED]:
            report(line)
        if written and _has_left(source, tenant):
            change_status(database, tenant, ACTIVE, (SUSPENDED,), None)
            raise TenantToolError(f"the target has written for {tenant} since the switch; move the tenant back instead")
    # What was verified is not what the source will have.
    (folder / VERIFIED).unlink(missing_ok=True)
    _activate(source, tenant, (SUSPENDED, READ_ONLY, LEAVING))
    return tenant


def _read_state(database: Connection, manifest: dict[str, Any]) -> tuple[str | None, int]:
    """Return the status of the tenant, and how often it was changed since the export."""
    tenant = str(manifest["tenant"])
    return get_status(database, tenant), get_epoch(database, tenant) - int(manifest["epoch"])


def _has_left(source: Stack, tenant: str) -> bool:
    with Connection(source.database) as database:
        return get_status(database, tenant) == LEAVING


def _read_verified(folder: Path) -> dict[str, Any]:
    if not is_verified(folder):
        raise TenantToolError(f"{folder} was not verified without a difference; run `tools.tenant verify` first")
    return read_manifest(folder)


def _activate(stack: Stack, tenant: str, allowed: Collection[str]) -> None:
    with Connection(stack.database) as database:
        change_status(database, tenant, ACTIVE, allowed, None)
