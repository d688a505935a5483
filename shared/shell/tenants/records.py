"""Read and lock the rows of tenants.

Guaranteed: a transaction that has locked a tenant's row commits before the status or the limits change, or has read
the change. The row is locked first of all, before a case and an import, and never by chunks.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.tenants.limits import NO_LIMITS, parse_limits
from core.tenants.status import Tenant, TenantStatus

_FIND = "SELECT status, reason, limits FROM tenants WHERE tenant_id = :tenant_id"
_READ, _SHARE, _LOCK = text(_FIND), text(f"{_FIND} LOCK IN SHARE MODE"), text(f"{_FIND} FOR UPDATE")


def find_tenant(reading: Session, tenant_id: str) -> Tenant | None:
    """Return the tenant as committed, None if it has no row."""
    return _execute(reading, _READ, tenant_id)


def share_tenant(transaction: Session, tenant_id: str) -> Tenant:
    """Lock the tenant's row, shared, and return the tenant.

    One without a row is active and without limits: the version before this one, which runs beside it during a
    deployment, creates tenants without.
    """
    return _execute(transaction, _SHARE, tenant_id) or Tenant(tenant_id)


def lock_counted_tenant(transaction: Session, tenant_id: str) -> Tenant:
    """Lock the tenant's row, for this transaction alone if it has a limit on what is started; return the tenant.

    Whether it has one is read before, because a shared lock that is raised later would deadlock two transactions: a
    start that began before the first limit was set is not counted by it.
    """
    found = find_tenant(transaction, tenant_id)
    limits = NO_LIMITS if found is None else found.limits
    if limits.running_imports is None and limits.rows_per_day is None:
        return share_tenant(transaction, tenant_id)
    return _execute(transaction, _LOCK, tenant_id) or Tenant(tenant_id)


def _execute(transaction: Session, statement: Any, tenant_id: str) -> Tenant | None:
    row = transaction.execute(statement, {"tenant_id": tenant_id}).one_or_none()
    if row is None:
        return None
    return Tenant(tenant_id, TenantStatus(row.status), row.reason, parse_limits(row.limits))
