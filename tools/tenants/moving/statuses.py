"""Change the status of a tenant's row: what decides which of two stacks may write for it."""

from __future__ import annotations

from collections.abc import Collection

from core.tenants.status import TenantStatus
from tools.tenants.database import TenantToolError
from tools.tenants.moving.connection import Connection, read_text

ACTIVE, READ_ONLY = TenantStatus.ACTIVE.value, TenantStatus.READ_ONLY.value
SUSPENDED, LEAVING = TenantStatus.SUSPENDED.value, TenantStatus.LEAVING.value
_CREATE = "INSERT IGNORE INTO tenants (tenant_id, status, reason) VALUES (%s, %s, %s)"
_CHANGE = (
    "UPDATE tenants SET status = %s, reason = %s, epoch = epoch + 1, changed_at = NOW(6)"
    " WHERE tenant_id = %s AND status <> %s AND status IN %s"
)


def get_status(database: Connection, tenant: str) -> str | None:
    """Return the status of a tenant, None if the stack does not have it."""
    found = database.read("SELECT status FROM tenants WHERE tenant_id = %s", (tenant,))
    return read_text(found[0][0]) if found else None


def get_epoch(database: Connection, tenant: str) -> int:
    """Return the epoch of a tenant, which each change of its status raises."""
    return int(read_text(database.read("SELECT epoch FROM tenants WHERE tenant_id = %s", (tenant,))[0][0]))


def create_tenant(database: Connection, tenant: str, status: str, reason: str) -> None:
    """Create the row of a tenant, unless it is there."""
    database.execute(_CREATE, (tenant, status, reason))


def change_status(database: Connection, tenant: str, status: str, allowed: Collection[str], reason: str | None) -> None:
    """Change the status from one of those that are allowed; one that it has already stays.

    Waits for the transactions that read the row with a lock, so that what they write is committed before. Raises
    TenantToolError if the tenant has another status, or does not exist.
    """
    database.execute(_CHANGE, (status, reason, tenant, status, tuple(allowed)))
    found = get_status(database, tenant)
    if not found:
        raise TenantToolError(f"tenant {tenant} does not exist here; check its name, and the stack that the file names")
    if found != status:
        possible = " or ".join(sorted(allowed))
        raise TenantToolError(f"tenant {tenant} is {found} here and cannot become {status}; set it to {possible} first")


def read_age_s(database: Connection, tenant: str) -> float:
    """Return how many seconds ago the status was changed."""
    age = "SELECT TIMESTAMPDIFF(MICROSECOND, changed_at, NOW(6)) / 1000000 FROM tenants WHERE tenant_id = %s"
    return float(read_text(database.read(age, (tenant,))[0][0]))
