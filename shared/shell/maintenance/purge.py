"""Purge expired rows, in small batches by primary key, so that other transactions do not wait.

Guaranteed: a response is kept for at least IDEMPOTENCY_TTL_HOURS after the claim of its key; a key with a current claim
is never deleted, nor is an unpublished or dead-lettered event. What one run leaves, the next run deletes.
An event that no message wakes the relay for is published after the next run. The metric RowsPurged has a sample for
each completed run, also of 0 rows: an alarm goes off without one.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import bindparam, text

from shell.db.session import session
from shell.deadline import seconds_left
from shell.exports.quiet import announce_quiet_exports
from shell.imports.corrections.orphans import delete_orphans
from shell.imports.upload_expiry import expire_uploads
from shell.maintenance.unclaimed_numbers import claim_unclaimed
from shell.observability import emit_counts, logger
from shell.outbox.relay import report_backlog
from shell.purges.requests import request_purges
from shell.settings import settings
from shell.utils.db_helpers import count_changed_rows, rerun_if_unknown, retry_on_db_conflict
from shell.volumes.deletion import look_again

BATCH_SIZE = 500
# Longer than SNS and SQS keep a message, so that the event of a missing message can still be found.
EVENT_RETENTION = timedelta(days=30)
SEMAPHORE_RETENTION = timedelta(days=1)

_KEYS = (
    """
    SELECT id FROM idempotency_keys WHERE created_at < NOW(6) - INTERVAL :age SECOND
    AND (status <> 'in_progress' OR lease_until < NOW(6)) ORDER BY created_at LIMIT :limit
    """,
    """
    DELETE FROM idempotency_keys WHERE id IN :ids AND created_at < NOW(6) - INTERVAL :age SECOND
    AND (status <> 'in_progress' OR lease_until < NOW(6))
    """,
)
# The oldest published events: ids ascend with time, so the index finds them in a table of any size.
_EVENTS = (
    """
    SELECT id FROM (SELECT id, created_at FROM outbox_events WHERE published = 1 ORDER BY id LIMIT :limit) AS oldest
    WHERE created_at < NOW(6) - INTERVAL :age SECOND
    """,
    """
    DELETE FROM outbox_events WHERE id IN :ids AND published = 1 AND created_at < NOW(6) - INTERVAL :age SECOND
    """,
)
# A fencing token is the time of its semaphore's last use, in microseconds.
_SEMAPHORES = (
    """
    SELECT name FROM semaphores WHERE fencing_token < (UNIX_TIMESTAMP(NOW(6)) - :age) * 1000000
    AND NOT EXISTS (SELECT 1 FROM semaphore_holders AS held WHERE held.name = semaphores.name) LIMIT :limit
    """,
    """
    DELETE FROM semaphores WHERE name IN :ids AND fencing_token < (UNIX_TIMESTAMP(NOW(6)) - :age) * 1000000
    AND NOT EXISTS (SELECT 1 FROM semaphore_holders AS held WHERE held.name = semaphores.name)
    """,
)
_HOLDERS = (
    "SELECT name, token FROM semaphore_holders WHERE expires_at < NOW(6) - INTERVAL :age SECOND LIMIT :limit",
    # One by one, by primary key: a scan of the expiry index would wait for locks on current holders.
    "DELETE FROM semaphore_holders WHERE name = :name AND token = :token",
)


class BatchResult(NamedTuple):
    """The result of one batch: how many expired rows were found, and how many of them were deleted."""

    found: int
    removed: int


def purge_expired(_event: dict[str, Any] | None = None) -> dict[str, int]:
    """Delete expired rows and uploads; return how many, by kind. While events wait, have the relay run, too.

    Volumes that were deleted within the last day are looked at again, once the URLs of their uploads have expired. The
    numbers of productions that an earlier version confirmed are claimed. Exports that stand still are announced again.
    A worker is woken for the purges of cases that begin or go on.

    Raises QueueUnavailableError if that cannot be requested, and StorageUnavailableError.
    """
    removed = {
        "idempotency_keys": _purge_table(_KEYS, timedelta(hours=settings().idempotency_ttl_hours)),
        "events": _purge_table(_EVENTS, EVENT_RETENTION),
        "semaphore_holders": _run_batches(_purge_holders),
        "semaphores": _purge_table(_SEMAPHORES, SEMAPHORE_RETENTION),
        "awaited_uploads": _run_batches(_expire_uploads),
        "correction_objects": delete_orphans(),
    }
    _look_at_deleted_volumes()
    claim_unclaimed()
    announce_quiet_exports()
    request_purges()
    logger.info("purged", extra=removed)
    # Both wakes of an event are lost if SQS is away when it is written; without another event none would follow.
    report_backlog()
    emit_counts(RowsPurged=sum(removed.values()))
    return removed


def _purge_table(statements: tuple[str, str], age: timedelta) -> int:
    return _run_batches(lambda: _purge_batch(statements, int(age.total_seconds())))


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _purge_holders() -> BatchResult:
    find, remove = _HOLDERS
    with session() as transaction:
        expired = transaction.execute(
            text(find), {"limit": BATCH_SIZE, "age": int(SEMAPHORE_RETENTION.total_seconds())}
        ).all()
        for row in expired:
            transaction.execute(text(remove), {"name": row.name, "token": row.token})
    return BatchResult(len(expired), len(expired))


def _expire_uploads() -> BatchResult:
    expired = expire_uploads(BATCH_SIZE)
    return BatchResult(found=expired, removed=expired)


def _look_at_deleted_volumes() -> None:
    seen = [0]
    while seen and seconds_left() > 0:
        seen = look_again(seen[-1], BATCH_SIZE)


def _run_batches(run_batch: Callable[[], BatchResult]) -> int:
    """Run batches until one finds less than a full batch or deletes nothing, or time is over; return how many rows."""
    total = 0
    while seconds_left() > 0:
        result = run_batch()
        total += result.removed
        if result.found < BATCH_SIZE or not result.removed:
            break
    return total


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _purge_batch(statements: tuple[str, str], age_s: int) -> BatchResult:
    """Select expired rows without a lock, then delete those still expired: a key may have been claimed again."""
    find, remove = statements
    with session() as transaction:
        ids = sorted(transaction.execute(text(find), {"limit": BATCH_SIZE, "age": age_s}).scalars())
        if not ids:
            return BatchResult(found=0, removed=0)
        removing = text(remove).bindparams(bindparam("ids", expanding=True))
        return BatchResult(len(ids), count_changed_rows(transaction.execute(removing, {"ids": ids, "age": age_s})))
