"""The rows of tenants: list, create and change them.

Guaranteed: a change is one statement, so that it is made as a whole or not at all. It waits for the transactions that
have read the row with a shared lock: once a status is set, whatever writes for the tenant has read it, or has ended.
Every change of a status raises the epoch.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.caller import is_name_of_tenant
from core.tenants.limits import Limits, format_limits, parse_limits
from core.tenants.status import TenantStatus
from tools.tenants.database import Database, Row, TenantToolError

MAX_REASON_CHARACTERS = 255
_COLUMNS = "tenant_id, status, limits, epoch, CAST(created_at AS CHAR) AS created_at, reason"
_COLUMNS += ", CAST(changed_at AS CHAR) AS changed_at"
_LIST = f"SELECT {_COLUMNS} FROM tenants ORDER BY tenant_id"  # noqa: S608
_FIND = f"SELECT {_COLUMNS} FROM tenants WHERE tenant_id = :tenant"  # noqa: S608
# One that exists is left as it is.
_CREATE = (
    "INSERT INTO tenants (tenant_id, limits) SELECT :tenant, :limits FROM DUAL "
    "WHERE NOT EXISTS (SELECT 1 FROM tenants WHERE tenant_id = :tenant)"
)
_SET_STATUS = (
    "UPDATE tenants SET epoch = epoch + 1, changed_at = NOW(6), reason = :reason, status = :status "
    "WHERE tenant_id = :tenant"
)
_SET_LIMITS = "UPDATE tenants SET limits = :limits, changed_at = NOW(6) WHERE tenant_id = :tenant"


@dataclass(frozen=True)
class TenantRecord:
    """A tenant's row; times in UTC, as text."""

    tenant_id: str
    status: TenantStatus
    limits: Limits
    epoch: int
    created_at: str
    changed_at: str
    reason: str | None


def list_tenants(database: Database) -> list[TenantRecord]:
    """Return all tenants, by their ids."""
    return [_read(row) for row in database.read(_LIST)]


def get_tenant(database: Database, tenant: str) -> TenantRecord:
    """Return a tenant. Raises TenantToolError if there is none."""
    rows = database.read(_FIND, tenant=tenant)
    if not rows:
        raise TenantToolError(f"the tenant {tenant} does not exist; create it with: create {tenant}")
    return _read(rows[0])


def create_tenant(database: Database, tenant: str, limits: Limits) -> TenantRecord:
    """Create an active tenant. Raises TenantToolError if it exists, or for a name that no token can have."""
    if not is_name_of_tenant(tenant):
        raise TenantToolError(
            f"{tenant!r} cannot be a tenant: it has 1 to 64 printable characters, no slash and no space at an end"
        )
    if not database.write(_CREATE, tenant=tenant, limits=format_limits(limits)):
        raise TenantToolError(f"the tenant {tenant} exists already; see: show {tenant}")
    return get_tenant(database, tenant)


def set_status(database: Database, tenant: str, status: TenantStatus, reason: str | None) -> TenantRecord:
    """Set the status and its reason, for users to read. Raises TenantToolError for an unknown tenant or a long reason.

    The database gives up after 10 s if a transaction of the tenant takes longer; repeating it is harmless.
    """
    if reason is not None and (len(reason) > MAX_REASON_CHARACTERS or not reason.isprintable()):
        raise TenantToolError(f"the reason is one line of at most {MAX_REASON_CHARACTERS} characters; shorten it")
    database.write(_SET_STATUS, tenant=tenant, status=status.value, reason=reason)
    return get_tenant(database, tenant)


def set_limits(database: Database, tenant: str, limits: Limits) -> TenantRecord:
    """Set all limits of a tenant. Raises TenantToolError for an unknown one."""
    database.write(_SET_LIMITS, tenant=tenant, limits=format_limits(limits))
    return get_tenant(database, tenant)


def _read(row: Row) -> TenantRecord:
    return TenantRecord(
        str(row["tenant_id"]),
        TenantStatus(str(row["status"])),
        parse_limits(row["limits"]),
        int(row["epoch"]),
        str(row["created_at"]),
        str(row["changed_at"]),
        row["reason"],
    )
