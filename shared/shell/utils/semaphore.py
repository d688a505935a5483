"""Semaphores that limit concurrent work on the same key, so that work is not duplicated.

They save work and never carry correctness: a slot expires after its time to live, even while its holder still works,
and a Redis that fails over may lose holders. What must not happen twice is prevented by a unique key, a row lock, a
version, or a fencing token checked in SQL.

Guaranteed: by one server's clock, never more than `limit` unexpired holders of a key; a slot whose holder died is free
after its time to live; only its own token releases a slot; slots are never renewed, since a frozen Lambda cannot renew.
Where REDIS_URL is set, the slots are in Redis, and if Redis is unavailable the outcome is UNKNOWN; there is no fallback
to the database, since another process may hold the slot in Redis. Otherwise the slots are in the database.
Not guaranteed: any order among waiting callers.
"""

from __future__ import annotations

import hashlib
import math
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, cast

from tenacity import RetryCallState, Retrying, retry_if_result, wait_random

from shell.deadline import MARGIN_S, seconds_left
from shell.observability import logger
from shell.utils import redis_client
from shell.utils.semaphore_backends import Backend, MySqlBackend, RedisBackend, SlotRequest

POLL_MIN_S, POLL_MAX_S = 0.02, 0.2


class SemaphoreOutcome(StrEnum):
    """The outcome of an attempt to acquire a slot."""

    ACQUIRED = "acquired"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Slot:
    """The result of an attempt to acquire a slot; true only if it was acquired.

    `fencing_token` is greater than that of any earlier holder of the key, 0 unless acquired. `retry_after_s` is for a
    caller without a slot: the whole seconds, at least 1, after which one is free unless another caller acquires it.
    """

    outcome: SemaphoreOutcome
    fencing_token: int = 0
    retry_after_s: int = 1

    def __bool__(self) -> bool:
        return self.outcome is SemaphoreOutcome.ACQUIRED


@contextmanager
def with_semaphore_lock(
    key: str, ttl: float = 10, namespace: str = "semaphore_lock", limit: int = 1, wait_s: float = 0
) -> Iterator[Slot]:
    """Try to acquire one of a key's `limit` slots for the block, and release it after the block.

    The block always runs and must check the slot's `outcome`: ACQUIRED, SKIPPED (all slots are held) or UNKNOWN (Redis
    is unavailable). A slot lasts at most `ttl` seconds, and no longer than the invocation. While no slot is free, the
    attempt is repeated for up to `wait_s` seconds, within the invocation's deadline.
    The key is logged, so it must consist of ids and hashes without content; Redis and the database store its hash.
    Do not use it inside of a transaction. Raises ValueError for invalid arguments; where the slots are in the database,
    also DatabaseUnavailableError and TransactionConflictError.
    """
    _validate_arguments(ttl, namespace, limit, wait_s)
    name = hashlib.sha256(f"{namespace}\0{key}".encode()).digest()
    request = SlotRequest(namespace, name, secrets.token_bytes(16), limit)
    backend: Backend = RedisBackend() if redis_client.is_configured() else MySqlBackend()
    slot = _build_polling(wait_s)(partial(_acquire, backend, request, ttl))
    details = {"namespace": namespace, "semaphore": name.hex()[:16], "key": key}
    if not slot:
        logger.info(f"semaphore {slot.outcome}", extra={**details, "retry_after_s": slot.retry_after_s})
    try:
        yield slot
    finally:
        if slot and backend.release(request) is False:
            logger.warning("semaphore lost before release", extra=details)


def _validate_arguments(ttl: float, namespace: str, limit: int, wait_s: float) -> None:
    if not 0 < ttl < math.inf:
        raise ValueError("ttl must be a number of seconds greater than 0")
    if limit < 1:
        raise ValueError("limit must be at least 1")
    if not wait_s >= 0:
        raise ValueError("wait_s must be 0 or more seconds")
    if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,64}", namespace):
        raise ValueError("namespace must be 1 to 64 letters, digits and _.:-")


def _acquire(backend: Backend, request: SlotRequest, ttl: float) -> Slot:
    # A killed Lambda releases nothing, so the slot expires with the invocation.
    grant = backend.acquire(request, min(ttl, seconds_left() + MARGIN_S))
    if grant is None:
        return Slot(SemaphoreOutcome.UNKNOWN, retry_after_s=math.ceil(ttl))
    if grant.granted:
        return Slot(SemaphoreOutcome.ACQUIRED, fencing_token=grant.fencing_token)
    return Slot(SemaphoreOutcome.SKIPPED, retry_after_s=max(1, math.ceil(grant.free_in_s)))


def _build_polling(wait_s: float) -> Retrying:
    """Return Tenacity's loop, which repeats the attempt while all slots are held and time for another pause is left."""

    def stop(state: RetryCallState) -> bool:
        waited = state.seconds_since_start or 0.0
        return waited + state.upcoming_sleep > wait_s or seconds_left() <= state.upcoming_sleep

    def last_result(state: RetryCallState) -> Any:
        return cast(Any, state.outcome).result()

    return Retrying(
        retry=retry_if_result(lambda slot: slot.outcome is SemaphoreOutcome.SKIPPED),
        wait=wait_random(POLL_MIN_S, POLL_MAX_S),
        stop=stop,
        retry_error_callback=last_result,
    )
