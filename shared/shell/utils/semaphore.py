"""Letting no more than so many do the same thing at once, so that work is not done twice for nothing.

It saves work and never carries correctness: a slot ends with its time, also while its holder still works, and a Redis
that fails over may forget holders. What must not happen twice is prevented by a unique key, a row lock, a version or
by checking the fence in SQL.

Guaranteed: by one server's clock never more than `limit` unexpired holders of a key; a slot whose holder died is free
after its time; nobody frees another's slot; nothing is renewed in the background, for a frozen Lambda renews nothing.
Where REDIS_URL is set the slots are in Redis, and a Redis that cannot tell makes the answer UNKNOWN; it never falls
over to the database, for another process may hold the slot in Redis. Where it is not set they are in the database.
Not guaranteed: any order among those who wait.
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

from shell.invocation import MARGIN_S, seconds_left
from shell.observability import logger
from shell.utils import redis_client
from shell.utils.semaphore_backends import Backend, Claim, MySqlBackend, RedisBackend

POLL_MIN_S, POLL_MAX_S = 0.02, 0.2


class SemaphoreOutcome(StrEnum):
    """What came of asking for a slot."""

    ACQUIRED = "acquired"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Slot:
    """The answer to who asked for a slot; true only if it was acquired.

    `fence` is greater than that of any earlier holder of the key, 0 unless acquired. `retry_after_s` is for who was
    not let in: whole seconds, at least 1, after which a slot is free at the latest, unless somebody else takes it.
    """

    outcome: SemaphoreOutcome
    fence: int = 0
    retry_after_s: int = 1

    def __bool__(self) -> bool:
        return self.outcome is SemaphoreOutcome.ACQUIRED


@contextmanager
def with_semaphore_lock(
    key: str, ttl: float = 10, namespace: str = "semaphore_lock", limit: int = 1, wait_s: float = 0
) -> Iterator[Slot]:
    """Ask for one of `limit` slots of a key for the block, and give it back at the end.

    The block runs whatever the answer is, and looks at `outcome`: ACQUIRED, SKIPPED (all slots are held) or UNKNOWN
    (Redis cannot tell). A slot lasts `ttl` seconds at most, and no longer than the Lambda lives. Who finds none free
    asks again for `wait_s` seconds, within the invocation's deadline.
    A key is made of ids and hashes and holds no content, for it is logged; in Redis and the database it is hashed.
    Not to be used inside of a transaction. Raises ValueError for arguments without a meaning, and where the slots are
    in the database DatabaseUnavailableError and TransactionConflictError.
    """
    _refuse_nonsense(ttl, namespace, limit, wait_s)
    name = hashlib.sha256(f"{namespace}\0{key}".encode()).digest()
    claim = Claim(namespace, name, secrets.token_bytes(16), limit)
    backend: Backend = RedisBackend() if redis_client.configured() else MySqlBackend()
    slot = _polling(wait_s)(partial(_ask, backend, claim, ttl))
    told = {"namespace": namespace, "semaphore": name.hex()[:16], "key": key}
    if not slot:
        logger.info(f"semaphore {slot.outcome}", extra={**told, "retry_after_s": slot.retry_after_s})
    try:
        yield slot
    finally:
        if slot and backend.release(claim) is False:
            logger.warning("semaphore lost before release", extra=told)


def _refuse_nonsense(ttl: float, namespace: str, limit: int, wait_s: float) -> None:
    if not 0 < ttl < math.inf:
        raise ValueError("ttl is a number of seconds above 0")
    if limit < 1:
        raise ValueError("limit is at least 1")
    if not wait_s >= 0:
        raise ValueError("wait_s is 0 or more seconds")
    if not re.fullmatch(r"[A-Za-z0-9_.:-]{1,64}", namespace):
        raise ValueError("namespace is at most 64 letters, digits and _.:-")


def _ask(backend: Backend, claim: Claim, ttl: float) -> Slot:
    # A Lambda that is killed gives nothing back; with it the slot ends.
    grant = backend.acquire(claim, min(ttl, seconds_left() + MARGIN_S))
    if grant is None:
        return Slot(SemaphoreOutcome.UNKNOWN, retry_after_s=math.ceil(ttl))
    if grant.granted:
        return Slot(SemaphoreOutcome.ACQUIRED, fence=grant.fence)
    return Slot(SemaphoreOutcome.SKIPPED, retry_after_s=max(1, math.ceil(grant.free_in_s)))


def _polling(wait_s: float) -> Retrying:
    """Tenacity's loop: asks again while all slots are held, until there is no time for another pause."""

    def stop(state: RetryCallState) -> bool:
        waited = state.seconds_since_start or 0.0
        return waited + state.upcoming_sleep > wait_s or seconds_left() <= state.upcoming_sleep

    def last_answer(state: RetryCallState) -> Any:
        return cast(Any, state.outcome).result()

    return Retrying(
        retry=retry_if_result(lambda slot: slot.outcome is SemaphoreOutcome.SKIPPED),
        wait=wait_random(POLL_MIN_S, POLL_MAX_S),
        stop=stop,
        retry_error_callback=last_answer,
    )
