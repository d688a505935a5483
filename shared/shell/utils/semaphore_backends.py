"""The storage of a semaphore's slots: Redis, or the database where no Redis is configured.

Guaranteed: both keep each slot's holder and expiry by the server's own clock, and decide atomically. Both are
idempotent by token: a holder is granted its slot again, so that a repeated request takes no second slot. A fencing
token is greater than any issued before for the same name, and at least the microseconds of the server's clock, so that
a server that lost its data does not start again at 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, cast

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from core.errors import ExhibitIngestError
from shell.db.session import session
from shell.observability import logger
from shell.utils import redis_client
from shell.utils.db_helpers import rerun_if_unknown, retry_on_db_conflict
from shell.utils.redis_client import RedisUnavailableError


@dataclass(frozen=True)
class SlotRequest:
    """A request for a slot: `name` is 32 bytes, `token` 16 unique bytes."""

    namespace: str
    name: bytes
    token: bytes
    limit: int


@dataclass(frozen=True)
class Grant:
    """The answer to a request: if not granted, `fencing_token` is 0 and `free_in_s` is when a slot becomes free."""

    granted: bool
    fencing_token: int
    free_in_s: float


class Backend(Protocol):
    """The storage of slots."""

    def acquire(self, request: SlotRequest, ttl_s: float) -> Grant | None:
        """Acquire a slot for at most `ttl_s` seconds if one is free; None if the storage is unavailable."""
        ...

    def release(self, request: SlotRequest) -> bool | None:
        """Release the request's own slot; False if it had expired before, None if the storage is unavailable."""
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
local fencing_token = math.max(tonumber(redis.call('GET', fences) or '0') + 1, micros)
redis.call('SET', fences, string.format('%.0f', fencing_token), 'PX', fence_ttl)
return {1, fencing_token, 0}
"""
_RELEASE = """
local time = redis.call('TIME')
local expiry = redis.call('ZSCORE', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[1], ARGV[1])
if expiry and tonumber(expiry) > tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) then return 1 end
return 0
"""
# After that, tokens still increase because they are at least the clock.
_FENCE_TTL_MS = 86_400_000


class RedisBackend:
    """Slots in Redis, one script for each operation; without fallback to the database."""

    def acquire(self, request: SlotRequest, ttl_s: float) -> Grant | None:
        """Implement `Backend`. An acquire without a reply may have taken effect, so it is released if possible."""
        ttl_ms = max(1, int(ttl_s * 1000))
        arguments = (*_redis_keys(request), request.token.hex(), ttl_ms, request.limit, _FENCE_TTL_MS)
        try:
            reply = redis_client.execute(lambda redis: redis.eval(_ACQUIRE, 2, *arguments))
        except RedisUnavailableError as error:
            if error.attempted:
                self._release(request, even_if_open=True)
            return None
        granted, fencing_token, left_ms = cast(list[int], reply)
        return Grant(granted == 1, fencing_token, left_ms / 1000)

    def release(self, request: SlotRequest) -> bool | None:
        """Implement `Backend`."""
        return self._release(request, even_if_open=False)

    def _release(self, request: SlotRequest, *, even_if_open: bool) -> bool | None:
        holders, token = _redis_keys(request)[0], request.token.hex()
        try:
            # EVAL, not EVALSHA: a server that hangs now has the whole script in one message.
            reply = redis_client.execute(
                lambda redis: redis.eval(_RELEASE, 1, holders, token), even_if_open=even_if_open
            )
        except RedisUnavailableError:
            return None
        return bool(reply == 1)


def _redis_keys(request: SlotRequest) -> tuple[str, str]:
    """Return the keys of holders and fencing token; one hash tag keeps them in one slot of a cluster."""
    base = f"{request.namespace}:{{{request.name.hex()}}}"
    return f"{base}:holders", f"{base}:fencing_token"


# The duplicate of an INSERT alone takes a shared lock, and two transactions that upgrade theirs deadlock.
_LOCK = text("INSERT INTO semaphores (name) VALUES (:name) ON DUPLICATE KEY UPDATE fencing_token = fencing_token")
_HOLDERS = text(
    "SELECT token, TIMESTAMPDIFF(MICROSECOND, NOW(6), expires_at) AS left_us"
    " FROM semaphore_holders WHERE name = :name ORDER BY expires_at"
)
_INSERT_HOLDER = text(
    "INSERT INTO semaphore_holders (name, token, expires_at)"
    " VALUES (:name, :token, NOW(6) + INTERVAL :ttl_us MICROSECOND)"
)
_INCREMENT_TOKEN = text(
    "UPDATE semaphores SET fencing_token ="
    " GREATEST(fencing_token + 1, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)) WHERE name = :name"
)
_FENCE = text("SELECT fencing_token FROM semaphores WHERE name = :name")
_OWN_HOLDER = text("SELECT expires_at > NOW(6) FROM semaphore_holders WHERE name = :name AND token = :token FOR UPDATE")
_DELETE_HOLDER = text("DELETE FROM semaphore_holders WHERE name = :name AND token = :token")


class MySqlBackend:
    """Slots in the database: each operation is a short transaction that locks the semaphore's row.

    Do not use it inside of a caller's transaction, which would hold a second connection meanwhile.
    """

    def acquire(self, request: SlotRequest, ttl_s: float) -> Grant | None:
        """Implement `Backend`; raise DatabaseUnavailableError or TransactionConflictError if the database fails.

        After a COMMIT of unknown outcome it is simply repeated, which is idempotent by token.
        """
        return _acquire_row(request, max(1, int(ttl_s * 1_000_000)))

    def release(self, request: SlotRequest) -> bool | None:
        """Implement `Backend`; log database errors instead of raising: the work is done and the slot expires."""
        try:
            return _release_row(request)
        except (ExhibitIngestError, SQLAlchemyError) as error:
            logger.warning("semaphore not released", extra={"error": type(error).__name__})
            return None


@retry_on_db_conflict(resolve=rerun_if_unknown)
def _acquire_row(request: SlotRequest, ttl_us: int) -> Grant:
    with session() as opened:
        opened.execute(_LOCK, {"name": request.name})
        living = _living_holders(opened, request.name)
        if request.token not in living and len(living) >= request.limit:
            return Grant(False, 0, list(living.values())[len(living) - request.limit] / 1_000_000)
        if request.token not in living:
            opened.execute(_INSERT_HOLDER, {"name": request.name, "token": request.token, "ttl_us": ttl_us})
        opened.execute(_INCREMENT_TOKEN, {"name": request.name})
        return Grant(True, opened.execute(_FENCE, {"name": request.name}).scalar_one(), 0)


def _living_holders(opened: Session, name: bytes) -> dict[bytes, int]:
    """Return unexpired tokens and their remaining microseconds, first to expire first; delete expired ones.

    They are deleted one by one, by primary key: a scan would wait for locks on holders of other semaphores.
    """
    holders = {row.token: row.left_us for row in opened.execute(_HOLDERS, {"name": name})}
    for token, left in holders.items():
        if left <= 0:
            opened.execute(_DELETE_HOLDER, {"name": name, "token": token})
    return {token: left for token, left in holders.items() if left > 0}


@retry_on_db_conflict(resolve=lambda request: None if _is_held(request) else True)
def _release_row(request: SlotRequest) -> bool:
    own = {"name": request.name, "token": request.token}
    with session() as opened:
        in_time = opened.execute(_OWN_HOLDER, own).scalar_one_or_none() == 1
        opened.execute(_DELETE_HOLDER, own)
        return in_time


def _is_held(request: SlotRequest) -> bool:
    """Return whether the slot is still held, after a COMMIT of unknown outcome."""
    with session() as opened:
        return (
            opened.execute(_OWN_HOLDER, {"name": request.name, "token": request.token}).scalar_one_or_none() is not None
        )
