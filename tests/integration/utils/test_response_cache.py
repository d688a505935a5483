"""The cache of responses in a real Redis: found for the same request alone, and never kept longer than the database."""

from __future__ import annotations

from dataclasses import replace

import pytest
from redis import Redis

from core.idempotency import KeyedRequest, KeyedResponse
from shell.utils import response_cache
from tests.support.application.captured_log import Log
from tests.support.servers.redis_server import RedisServer

REQUEST = KeyedRequest("t", "POST /x", "k", b"f" * 32)
RESPONSE = KeyedResponse(201, '{"id": 1}', {"location": "/x/1"})


@pytest.mark.parametrize(("age_s", "kept_s"), [(86_399, 1), (86_400, None), (86_401, None)])
def test_a_response_is_cached_for_as_long_as_the_database_keeps_it(
    server: RedisServer, log: Log, age_s: int, kept_s: int | None
) -> None:
    response_cache.store(REQUEST, RESPONSE, age_s=age_s)
    with Redis.from_url(server.url) as client:
        times = [client.ttl(name) for name in client.keys("idem:*")]
    # Redis rounds the time that is left.
    assert times in ([[0], [1]] if kept_s else [[]])
    assert log.lines() == [], "Redis got no request that it refuses"


def test_a_cached_response_is_found_by_the_same_request_alone(server: RedisServer) -> None:
    response_cache.store(REQUEST, RESPONSE, age_s=0)
    assert response_cache.find(REQUEST) == RESPONSE
    for other in ({"tenant_id": "u"}, {"route": "POST /y"}, {"key": "l"}, {"fingerprint": b"g" * 32}):
        assert response_cache.find(replace(REQUEST, **other)) is None, other
