"""Copies of committed answers in Redis, so that a repeated request need not ask the database.

Guaranteed: only what the database has committed is kept, never longer than there, and only the answer to the very same
request is found. A miss means nothing: the database is asked. Redis being down, or not configured, is a miss.
"""

from __future__ import annotations

import hashlib

from core.idempotency import Answer, KeyedRequest
from shell.settings import settings
from shell.utils import redis_client
from shell.utils.redis_client import RedisUnavailableError

MAX_RECORD_CHARACTERS = 262_144


def find(request: KeyedRequest) -> Answer | None:
    """The answer that was given to this very request, or None."""
    if not redis_client.configured():
        return None
    try:
        kept = redis_client.ask(lambda redis: redis.get(_name(request)))
    except RedisUnavailableError:
        return None
    return Answer.of_record(kept, request) if isinstance(kept, (bytes, str)) else None


def keep(request: KeyedRequest, answer: Answer, *, age_s: int) -> None:
    """Keep an answer that was committed `age_s` seconds ago at most, for as long as the database keeps it."""
    left = ttl_s() - max(0, age_s)
    record = answer.to_record(request)
    if not redis_client.configured() or left <= 0 or len(record) > MAX_RECORD_CHARACTERS:
        return
    try:
        redis_client.ask(lambda redis: redis.set(_name(request), record, ex=left))
    except RedisUnavailableError:
        return


def ttl_s() -> int:
    """For how many seconds an answer is kept at least."""
    return settings().idempotency_ttl_hours * 3600


def _name(request: KeyedRequest) -> str:
    """Hashed: what clients send is no part of a name in Redis."""
    place = "\0".join((request.tenant_id, request.route, request.key or ""))
    return f"idem:{hashlib.sha256(place.encode()).hexdigest()}"
