"""Delete the rows of a tenant, in batches, so that other tenants do not wait.

Guaranteed: what refers to a row is deleted before it, so that a repetition after an interruption finds all that is
left. Counters stay (`tools.tenants.moving.counters`).
"""

from __future__ import annotations

from collections.abc import Callable

from tools.tenants.moving.assignment import COUNTERS, MOVED, PROFILES, Scope
from tools.tenants.moving.tenant_rows import TenantRows

_BATCH = 2_000


def remove_rows(rows: TenantRows, report: Callable[[str], None]) -> None:
    """Delete the rows of the tenant, children first."""
    total = 0
    for scope in reversed(MOVED):
        if scope.table not in COUNTERS and scope.table != PROFILES:
            total += _remove(rows, scope)
    rows.forget_ids()
    report(f"removed {total:,} rows that the tenant had here")


def _remove(rows: TenantRows, scope: Scope) -> int:
    total = 0
    for condition in rows.list_conditions(scope):
        statement = f"DELETE FROM `{scope.table}` WHERE {condition} LIMIT {_BATCH}"  # noqa: S608 - of the schema
        removed = _BATCH
        while removed == _BATCH:
            removed = rows.connection.execute(statement, (rows.tenant,))
            total += removed
    return total
