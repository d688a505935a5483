"""Where a semaphore's slots are kept: in Redis, or in the database where no Redis is configured.

Both keep who holds a slot and until when, by the server's own clock, and decide in one step that nobody can come
between. Both are idempotent by token: whoever holds a slot is granted it again, so that a repeated question is no
second contender. A fence is greater than any given out before under the same name, and is the microseconds of the
server's clock at least, so that a server that lost its memory does not begin again at 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from core.errors import ExhibitIngestError
from shell.observability import logger
from shell.utils import redis_client
from shell.utils.db_helpers import repeating_is_harmless, retry_on_db_conflict
from shell.utils.db_session import session
from shell.utils.redis_client import RedisUnavailableError


@dataclass(frozen=True)
class Claim:
    """A contender: `name` is 32 bytes, `token` 16 that nobody else has."""

    namespace: str
    name: bytes
    token: bytes
    limit: int


@dataclass(frozen=True)
class Grant:
    """What came of a claim: `fence` is 0 and `free_in_s` matters where it was not granted."""

    granted: bool
    fence: int
    free_in_s: float


class Backend(Protocol):
    """What both have in common."""

    def acquire(self, claim: Claim, ttl_s: float) -> Grant | None:
        """Take a slot for at most `ttl_s` seconds if one is free; None where nobody can tell."""
        ...

    def release(self, claim: Claim) -> bool | None:
        """Give back the claim's own slot; False if its time was over before, None where nobody can tell."""
        ...


_ACQUIRE = """
local holders, fences, token = KEYS[1], KEYS[2], ARGV[1]
local ttl, limit, fence_ttl = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local time = redis.call('TIME')
local micros = tonumber(time[1]) * 1000000 + tonumber(time[2])
local millis = math.floor(micros / 1000)
redis.call('ZREMRANGEBYSCORE', holders, '-inf', millis)
local mine, count = redis.call('ZSCORE', holders, token), redis.call('ZCARD', holders)
if not mine and count >= limit then
  local leaving = redis.call('ZRANGE', holders, count - limit, count - limit, 'WITHSCORES')
  return {0, 0, tonumber(leaving[2]) - millis}
end
if not mine then
  redis.call('ZADD', holders, string.format('%.0f', millis + ttl), token)
  local last = redis.call('ZRANGE', holders, -1, -1, 'WITHSCORES')
  redis.call('PEXPIREAT', holders, string.format('%.0f', tonumber(last[2])))
end
local fence = math.max(tonumber(redis.call('GET', fences) or '0') + 1, micros)
redis.call('SET', fences, string.format('%.0f', fence), 'PX', fence_ttl)
return {1, fence, 0}
"""
_RELEASE = """
local time = redis.call('TIME')
local expiry = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
if expiry and tonumber(expiry) > tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) then return 1 end
return 0
"""
# After that the clock alone keeps fences growing.
_FENCE_MEMORY_MS = 86_400_000


class RedisBackend:
    """Slots in Redis, one script a step. It never turns to the database: another process may hold a slot in Redis."""

    def acquire(self, claim: Claim, ttl_s: float) -> Grant | None:
        """As `Backend`. An acquire that got no answer may have happened: it is taken back if that can be done."""
        ttl_ms = max(1, int(ttl_s * 1000))
        arguments = (*_redis_keys(claim), claim.token.hex(), ttl_ms, claim.limit, _FENCE_MEMORY_MS)
        try:
            answer = redis_client.ask(lambda redis: redis.eval(_ACQUIRE, 2, *arguments))
        except RedisUnavailableError as error:
            if error.asked:
                self._release(claim, even_if_resting=True)
            return None
        granted, fence, left_ms = cast(list[int], answer)
        return Grant(granted == 1, fence, left_ms / 1000)

    def release(self, claim: Claim) -> bool | None:
        """As `Backend`."""
        return self._release(claim, even_if_resting=False)

    def _release(self, claim: Claim, *, even_if_resting: bool) -> bool | None:
        holders, token = _redis_keys(claim)[0], claim.token.hex()
        try:
            # EVAL and not EVALSHA: a server that hangs now finds all that it needs in one message.
            answer = redis_client.ask(
                lambda redis: redis.eval(_RELEASE, 1, holders, token), even_if_resting=even_if_resting
            )
        except RedisUnavailableError:
            return None
        return bool(answer == 1)


def _redis_keys(claim: Claim) -> tuple[str, str]:
    """Both with one hash tag, so that a cluster keeps them in one slot."""
    base = f"{claim.namespace}:{{{claim.name.hex()}}}"
    return f"{base}:holders", f"{base}:fence"


# Not INSERT alone, whose duplicate takes a shared lock, and two of those cannot both become exclusive.
_LOCK = text("INSERT INTO semaphores (name) VALUES (:name) ON DUPLICATE KEY UPDATE fence = fence")
_HOLDERS = text(
    "SELECT token, TIMESTAMPDIFF(MICROSECOND, NOW(6), expires_at) AS left_us"
    " FROM semaphore_holders WHERE name = :name ORDER BY expires_at"
)
_TAKE = text(
    "INSERT INTO semaphore_holders (name, token, expires_at)"
    " VALUES (:name, :token, NOW(6) + INTERVAL :ttl_us MICROSECOND)"
)
_NEXT_FENCE = text(
    "UPDATE semaphores SET fence = GREATEST(fence + 1, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))"
    " WHERE name = :name"
)
_FENCE = text("SELECT fence FROM semaphores WHERE name = :name")
_MINE = text("SELECT expires_at > NOW(6) FROM semaphore_holders WHERE name = :name AND token = :token FOR UPDATE")
_LEAVE = text("DELETE FROM semaphore_holders WHERE name = :name AND token = :token")


class MySqlBackend:
    """Slots in the database, a short transaction of its own a step; the row of `semaphores` puts contenders in line.

    Not to be used inside of a transaction of the caller's, which would hold a second connection all the while.
    """

    def acquire(self, claim: Claim, ttl_s: float) -> Grant | None:
        """As `Backend`; raises DatabaseUnavailableError or TransactionConflictError, for who asks needs the database.

        After an unknown COMMIT it is simply asked again, which is harmless by token.
        """
        return _acquire_row(claim, max(1, int(ttl_s * 1_000_000)))

    def release(self, claim: Claim) -> bool | None:
        """As `Backend`; never raises for what the database does, for the work is done and the slot has an end."""
        try:
            return _release_row(claim)
        except (ExhibitIngestError, SQLAlchemyError) as error:
            logger.warning("semaphore not released", extra={"error": type(error).__name__})
            return None


@retry_on_db_conflict(resolve=repeating_is_harmless)
def _acquire_row(claim: Claim, ttl_us: int) -> Grant:
    with session() as opened:
        opened.execute(_LOCK, {"name": claim.name})
        living = _living_holders(opened, claim.name)
        if claim.token not in living and len(living) >= claim.limit:
            return Grant(False, 0, list(living.values())[len(living) - claim.limit] / 1_000_000)
        if claim.token not in living:
            opened.execute(_TAKE, {"name": claim.name, "token": claim.token, "ttl_us": ttl_us})
        opened.execute(_NEXT_FENCE, {"name": claim.name})
        return Grant(True, opened.execute(_FENCE, {"name": claim.name}).scalar_one(), 0)


def _living_holders(opened: Session, name: bytes) -> dict[bytes, int]:
    """Tokens and the microseconds they have left, first to leave first; those whose time is over are deleted.

    One by one, by primary key: a scan would wait for holders of other semaphores.
    """
    holders = {row.token: row.left_us for row in opened.execute(_HOLDERS, {"name": name})}
    for token, left in holders.items():
        if left <= 0:
            opened.execute(_LEAVE, {"name": name, "token": token})
    return {token: left for token, left in holders.items() if left > 0}


@retry_on_db_conflict(resolve=lambda claim: None if _release_row_open(claim) else True)
def _release_row(claim: Claim) -> bool:
    own = {"name": claim.name, "token": claim.token}
    with session() as opened:
        in_time = opened.execute(_MINE, own).scalar_one_or_none() == 1
        opened.execute(_LEAVE, own)
        return in_time


def _release_row_open(claim: Claim) -> bool:
    """After an unknown COMMIT: whether the slot is still there to be given back."""
    with session() as opened:
        return opened.execute(_MINE, {"name": claim.name, "token": claim.token}).scalar_one_or_none() is not None
