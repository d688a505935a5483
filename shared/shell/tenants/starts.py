"""What may start for a tenant now: by its status, and by its limits of imports under way and of rows a day.

Guaranteed: limits count rows of imports and volumes, no counter, in the transaction that changes their status and
under the tenant's row: a killed worker leaks nothing, and of many starts at once no more succeed than the limit has
left. A volume counts as one until its files are imported, which then take its place.
Not guaranteed: that fewer imports than the limit are under way where several load files of one volume, which has no
data file, begin at once, or where the limit was lowered; none is stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from sqlalchemy import text
from sqlalchemy.orm import Session

from core.codes import FileFailure
from core.errors import FileRefusedError
from core.tenants.errors import LimitReachedError, StartPostponedError
from core.tenants.status import Tenant
from shell.aws.sqs import send_messages
from shell.db.session import session
from shell.observability import logger
from shell.tenants.records import lock_counted_tenant, share_tenant
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.work.messages import Message

# The longest delay of SQS; a new message is sent each time, so that none gets old.
POSTPONED_S = 900
RETRY_AFTER_S = 60

_COUNT_UNDER_WAY = text(
    "SELECT (SELECT COUNT(*) FROM imports WHERE tenant_id = :tenant_id "
    "AND status IN ('splitting', 'checking', 'running')) + (SELECT COUNT(*) FROM volumes "
    "WHERE tenant_id = :tenant_id AND status IN ('sealed', 'expanding', 'hashing'))"
)
# The day on which the import began; its own rows are in the sum.
_COUNT_ROWS = text(
    "SELECT COALESCE(SUM(other.rows_seen), 0) FROM imports AS own JOIN imports AS other "
    "ON other.tenant_id = own.tenant_id AND other.started_at >= DATE(own.started_at) "
    "AND other.started_at < DATE(own.started_at) + INTERVAL 1 DAY WHERE own.id = :import_id"
)


@contextmanager
def counting_starts(transaction: Session, tenant: Tenant) -> Iterator[None]:
    """Raise LimitReachedError if the block starts imports beyond the limit; the caller then rolls back.

    The caller has locked the tenant's row by `lock_counted_tenant`, first of all.
    """
    limit = tenant.limits.running_imports
    before = None if limit is None else _count_under_way(transaction, tenant)
    yield
    if limit is None or before is None:
        return
    transaction.flush()
    after = _count_under_way(transaction, tenant)
    if after > max(before, limit):
        raise LimitReachedError(
            f"Your tenant may have {limit} imports under way at once, and has {before}. Try again when one has ended.",
            retry_after_s=RETRY_AFTER_S,
        )


def _count_under_way(transaction: Session, tenant: Tenant) -> int:
    return int(transaction.execute(_COUNT_UNDER_WAY, {"tenant_id": tenant.tenant_id}).scalar_one())


def refuse_rows(transaction: Session, tenant: Tenant, import_id: int) -> None:
    """Raise FileRefusedError if the rows of an import, which are stored, exceed the limit of the day it began on."""
    limit = tenant.limits.rows_per_day
    if limit is None:
        return
    rows = int(transaction.execute(_COUNT_ROWS, {"import_id": import_id}).scalar_one())
    if rows > limit:
        raise FileRefusedError(
            FileFailure.ROWS_PER_DAY,
            f"With this file, the imports of the day have {rows} rows, and the tenant may import {limit} a day. "
            "Retry the import tomorrow (UTC), or ask the operator for a higher limit.",
        )


def lock_starting_tenant(transaction: Session, tenant_id: str) -> Tenant:
    """Lock the tenant as `lock_counted_tenant` does; raise StartPostponedError if no work starts for it now."""
    tenant = lock_counted_tenant(transaction, tenant_id)
    if not tenant.starts_work:
        postpone_start()
    return tenant


def postpone_start() -> NoReturn:
    """Raise StartPostponedError, for the status of a tenant."""
    raise StartPostponedError(retry_after_s=POSTPONED_S)


def require_start(tenant_id: str) -> None:
    """Raise StartPostponedError if no work starts for the tenant now."""
    if not _starts_work(tenant_id):
        postpone_start()


def postpone(tenant_id: str, queue_url: str, message: Message) -> bool:
    """Send a new message with a delay if no work starts for the tenant now; return whether it was sent.

    The message that it replaces is acknowledged after that: one that goes back to its queue would be given up after
    five deliveries, or lost with the queue's retention. Raises QueueUnavailableError.
    """
    if _starts_work(tenant_id):
        return False
    send_postponed(queue_url, message, POSTPONED_S, tenant_id)
    return True


def send_postponed(queue_url: str, message: Message, delay_s: int, tenant_id: str | None) -> None:
    """Send a message with a delay, in place of one whose work does not start now. Raises QueueUnavailableError."""
    send_messages(queue_url, [message], delay_s, tenant_id)
    logger.info("start postponed", extra={"kind": type(message).__name__, "delay_s": delay_s})


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _starts_work(tenant_id: str) -> bool:
    with session() as locking:
        return share_tenant(locking, tenant_id).starts_work
