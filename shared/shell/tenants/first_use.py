"""The tenant of a request, as this process knows it; a new one gets its row by its first request.

Guaranteed: however many first requests come at once, one row is made; a row that the operator made before, such as one
that is suspended, stays as it is. A change of a row reaches this process within MAX_AGE_S.
Not guaranteed: that first use never makes more than MAX_BY_FIRST_USE tenants: concurrent first requests can pass it by
their number.
"""

from __future__ import annotations

import time

from sqlalchemy import text

from core.tenants.errors import TenantRefusedError
from core.tenants.status import Tenant
from shell.db.session import session
from shell.observability import logger
from shell.settings import settings
from shell.tenants.records import find_tenant
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict

MAX_AGE_S = 30.0
# Any valid token makes a tenant: a mistake in the claims of a user pool must not fill the table.
MAX_BY_FIRST_USE = 1_000
_MAX_KNOWN = 10_000
_COUNT = text("SELECT COUNT(*) FROM tenants")
_CREATE = text("INSERT INTO tenants (tenant_id) VALUES (:tenant_id)")
_UNKNOWN = "Your tenant does not exist in this deployment. Ask its operator to create it."
_FULL = "This deployment has as many tenants as first requests may create. Ask its operator to create yours."
# The tenants that this process has read, and until when what it read counts, by the monotonic clock.
_known: dict[str, tuple[Tenant, float]] = {}


def require_tenant(tenant_id: str) -> Tenant:
    """Return the tenant as it was within the last MAX_AGE_S seconds; create it where TENANTS_BY_FIRST_USE allows that.

    Raises TenantRefusedError for a tenant that does not exist and may not be created.
    """
    now = time.monotonic()
    tenant, until = _known.get(tenant_id, (None, now))
    if tenant is None or until <= now:
        tenant = _find(tenant_id) or _create(tenant_id)
        if len(_known) >= _MAX_KNOWN:
            forget_tenants()
        _known[tenant_id] = tenant, now + MAX_AGE_S
    return tenant


def forget_tenants() -> None:
    """Have each tenant be read again."""
    _known.clear()


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _find(tenant_id: str) -> Tenant | None:
    with session() as reading:
        return find_tenant(reading, tenant_id)


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _create(tenant_id: str) -> Tenant:
    """Create the tenant, unless another request does: then the duplicate key is retried, and its row is found."""
    with session() as transaction:
        found = find_tenant(transaction, tenant_id)
        if found is not None:
            return found
        if not settings().tenants_by_first_use:
            raise TenantRefusedError(_UNKNOWN)
        if int(transaction.execute(_COUNT).scalar_one()) >= MAX_BY_FIRST_USE:
            raise TenantRefusedError(_FULL)
        transaction.execute(_CREATE, {"tenant_id": tenant_id})
    logger.info("tenant created by its first use")
    return Tenant(tenant_id)
