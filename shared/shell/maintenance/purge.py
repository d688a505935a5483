"""Forgetting what has had its time, in small batches by primary key, so that nobody waits for it.

Guaranteed: an answer is kept for IDEMPOTENCY_TTL_HOURS at least, from the claim of its key; a key that is claimed right
now, and an event that is not published, parked or not, are never removed. What one run leaves, the next one takes.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

from sqlalchemy import bindparam, text

from shell.expiring_ops import expire_uploads
from shell.invocation import seconds_left
from shell.observability import logger
from shell.settings import settings
from shell.utils.db_helpers import changed_rows, repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session

BATCH = 500
# Longer than SNS and SQS keep a message: who asks why something did not arrive still finds the event.
PUBLISHED_FOR = timedelta(days=30)
SEMAPHORES_FOR = timedelta(days=1)

_KEYS = (
    """
    SELECT id FROM idempotency_keys WHERE created_at < NOW(6) - INTERVAL :age SECOND
    AND (status <> 'in_progress' OR lease_until < NOW(6)) ORDER BY created_at LIMIT :most
    """,
    """
    DELETE FROM idempotency_keys WHERE id IN :ids AND created_at < NOW(6) - INTERVAL :age SECOND
    AND (status <> 'in_progress' OR lease_until < NOW(6))
    """,
)
# The oldest published ones: ids ascend with time, so the index serves it, whatever the table's size.
_EVENTS = (
    """
    SELECT id FROM (SELECT id, created_at FROM outbox_events WHERE published = 1 ORDER BY id LIMIT :most) AS oldest
    WHERE created_at < NOW(6) - INTERVAL :age SECOND
    """,
    """
    DELETE FROM outbox_events WHERE id IN :ids AND published = 1 AND created_at < NOW(6) - INTERVAL :age SECOND
    """,
)
# A fence is the time of its semaphore's last use, in microseconds.
_SEMAPHORES = (
    """
    SELECT name FROM semaphores WHERE fence < (UNIX_TIMESTAMP(NOW(6)) - :age) * 1000000
    AND NOT EXISTS (SELECT 1 FROM semaphore_holders AS held WHERE held.name = semaphores.name) LIMIT :most
    """,
    """
    DELETE FROM semaphores WHERE name IN :ids AND fence < (UNIX_TIMESTAMP(NOW(6)) - :age) * 1000000
    AND NOT EXISTS (SELECT 1 FROM semaphore_holders AS held WHERE held.name = semaphores.name)
    """,
)
_HOLDERS = (
    "SELECT name, token FROM semaphore_holders WHERE expires_at < NOW(6) - INTERVAL :age SECOND LIMIT :most",
    # One by one: by tokens alone it would go over the times, and wait for holders that are at work.
    "DELETE FROM semaphore_holders WHERE name = :name AND token = :token",
)


class Step(NamedTuple):
    """One batch: how many were found to be over, and how many of them were removed."""

    found: int
    removed: int


def purge_expired(_event: dict[str, Any] | None = None) -> dict[str, int]:
    """Remove what is over; returns how many of what."""
    removed = {
        "idempotency_keys": _purge(_KEYS, timedelta(hours=settings().idempotency_ttl_hours)),
        "events": _purge(_EVENTS, PUBLISHED_FOR),
        "semaphore_holders": _in_batches(_holders),
        "semaphores": _purge(_SEMAPHORES, SEMAPHORES_FOR),
        "awaited_uploads": _in_batches(_expired),
    }
    logger.info("purged", extra=removed)
    return removed


def _purge(statements: tuple[str, str], age: timedelta) -> int:
    return _in_batches(lambda: _batch(statements, int(age.total_seconds())))


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _holders() -> Step:
    find, remove = _HOLDERS
    with session() as transaction:
        over = transaction.execute(text(find), {"most": BATCH, "age": int(SEMAPHORES_FOR.total_seconds())}).all()
        for row in over:
            transaction.execute(text(remove), {"name": row.name, "token": row.token})
    return Step(len(over), len(over))


def _expired() -> Step:
    expired = expire_uploads(BATCH)
    return Step(found=expired, removed=expired)


def _in_batches(step: Callable[[], Step]) -> int:
    """Until no more is found, none of what is found can be removed, or the time is over; returns how many went."""
    total = 0
    while seconds_left() > 0:
        done = step()
        total += done.removed
        if done.found < BATCH or not done.removed:
            break
    return total


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _batch(statements: tuple[str, str], age_s: int) -> Step:
    """Find without a lock, then remove what is still to be removed: meanwhile somebody may have claimed it anew."""
    find, remove = statements
    with session() as transaction:
        ids = sorted(transaction.execute(text(find), {"most": BATCH, "age": age_s}).scalars())
        if not ids:
            return Step(found=0, removed=0)
        removing = text(remove).bindparams(bindparam("ids", expanding=True))
        return Step(len(ids), changed_rows(transaction.execute(removing, {"ids": ids, "age": age_s})))
