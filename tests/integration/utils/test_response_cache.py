"""The cache of responses in a real Redis: found for the same request alone, and never kept longer than the database."""

from __future__ import annotations

import pytest
from redis import Redis

from core.idempotency import KeyedRequest, KeyedResponse
from shell.utils import response_cache
from tests.support.redis_server import RedisServer

REQUEST = KeyedRequest("t", "POST /x", "k", b"f" * 32)
RESPONSE = KeyedResponse(201, '{"id": 1}', {"location": "/x/1"})


@pytest.mark.parametrize(("age_s", "kept_s"), [(0, 86_400), (86_399, 1), (86_400, None), (86_401, None)])
def test_a_response_is_cached_for_as_long_as_the_database_keeps_it(
    server: RedisServer, age_s: int, kept_s: int | None
) -> None:
    response_cache.store(REQUEST, RESPONSE, age_s=age_s)
    with Redis.from_url(server.url) as client:
        ages = [client.ttl(name) for name in client.keys("idem:*")]
    assert ages in ([] if kept_s is None else [kept_s], [] if kept_s is None else [kept_s - 1])
    if kept_s == 86_400:
        assert response_cache.find(REQUEST) == RESPONSE
        other = KeyedRequest("t", "POST /x", "k", b"g" * 32)
        assert response_cache.find(other) is None
