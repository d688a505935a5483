"""Cache committed responses in Redis, so that a repeated request does not query the database.

Guaranteed: only committed responses are cached, never longer than the database keeps them, and a response is returned
only for exactly the same request. A miss means nothing: the caller queries the database. Redis being unavailable or not
configured is a miss.
"""

from __future__ import annotations

import hashlib

from core.idempotency import KeyedRequest, KeyedResponse
from shell.settings import settings
from shell.utils import redis_client
from shell.utils.redis_client import RedisUnavailableError

MAX_RECORD_CHARACTERS = 262_144


def find(request: KeyedRequest) -> KeyedResponse | None:
    """Return the cached response of exactly this request, or None."""
    if not redis_client.is_configured():
        return None
    try:
        record = redis_client.execute(lambda redis: redis.get(_name(request)))
    except RedisUnavailableError:
        return None
    return KeyedResponse.from_record(record, request) if isinstance(record, (bytes, str)) else None


def store(request: KeyedRequest, response: KeyedResponse, *, age_s: int) -> None:
    """Cache a response that was committed at most `age_s` seconds ago, for as long as the database keeps it."""
    left_s = ttl_s() - max(0, age_s)
    record = response.to_record(request)
    if not redis_client.is_configured() or left_s <= 0 or len(record) > MAX_RECORD_CHARACTERS:
        return
    try:
        redis_client.execute(lambda redis: redis.set(_name(request), record, ex=left_s))
    except RedisUnavailableError:
        return


def ttl_s() -> int:
    """Return the seconds for which the database keeps a response at least."""
    return settings().idempotency_ttl_hours * 3600


def _name(request: KeyedRequest) -> str:
    """Return the Redis key: a hash, since it must not contain what clients send."""
    place = "\0".join((request.tenant_id, request.route, request.key or ""))
    return f"idem:{hashlib.sha256(place.encode()).hexdigest()}"
