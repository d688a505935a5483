"""Wait until a tenant has nothing in progress: it moves only then.

Guaranteed: each kind of work that writes rows or objects of a tenant after its request is counted, also the reports and
events that follow the end of an import. What ended, failed, or waits for a request of a user moves as it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from tools.tenants.database import ConnectedDatabase, TenantToolError
from tools.tenants.moving.objects import list_uploads
from tools.tenants.moving.stacks import Stack
from tools.tenants.moving.statuses import read_age_s
from tools.tenants.moving.tenant_rows import TenantRows
from tools.tenants.work_under_way import count_work

# An upload whose URL has expired is a row that waits; uploads in parts are looked for in the bucket.
_WAITS_FOR_A_USER = frozenset({"uploads awaited"})
# What the stack that a clone was made of has done since.
_DONE_SINCE = frozenset({"requests", "reports", "events"})
# The cached status (30 s), the longest function (900 s) and the longest-lived URL of an upload (3,600 s), which may
# follow each other.
UNAWARE_S = 30 + 900 + 3_600


@dataclass(frozen=True)
class Waiting:
    """How long to wait, in seconds: for what may not know the status yet, and for the end of the work.

    A clone has no functions, so nothing is waited for.
    """

    is_clone: bool = False
    unaware_s: float = UNAWARE_S
    work_s: float = 24 * 3_600
    pause_s: float = 5.0


def wait_until_quiet(stack: Stack, rows: TenantRows, waiting: Waiting, report: Callable[[str], None]) -> None:
    """Wait until the tenant, whose status was changed before, has nothing in progress.

    Raises TenantToolError, with what is, if it does not end in time.
    """
    unaware_s = 0.0 if waiting.is_clone else waiting.unaware_s - read_age_s(rows.connection, rows.tenant)
    if unaware_s > 0:
        report(f"waiting {unaware_s:,.0f} s for what began before the status was changed")
        time.sleep(unaware_s)
    end, reported = time.monotonic() + (0 if waiting.is_clone else waiting.work_s), ""
    while found := describe_work(stack, rows, is_clone=waiting.is_clone):
        if time.monotonic() >= end:
            raise TenantToolError(f"the tenant still has work in progress: {found}")
        if found != reported:
            report(f"waiting for the end of: {found}")
        reported = found
        time.sleep(waiting.pause_s)


def describe_work(stack: Stack, rows: TenantRows, *, is_clone: bool) -> str:
    """Return how much of each kind is in progress, "" for nothing."""
    ignored = _WAITS_FOR_A_USER | (_DONE_SINCE if is_clone else frozenset())
    counts = count_work(ConnectedDatabase(stack.database), rows.tenant)
    found = {name: count for name, count in counts.items() if count and name not in ignored}
    uploads = 0 if is_clone else sum(1 for _ in list_uploads(stack, rows))
    return ", ".join(f"{name} {count:,}" for name, count in {**found, "uploads in parts": uploads}.items() if count)
