"""A Redis that hangs, dies, is full, or is no longer the one to write to: UNKNOWN, soon, and nothing stays behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from shell.utils import redis_client
from shell.utils.redis_client import RedisUnavailableError
from shell.utils.semaphore import SemaphoreOutcome, with_semaphore_lock
from tests.support.application.cleared_caches import forget_redis
from tests.support.application.driver import World
from tests.support.database.counted_database import until
from tests.support.servers.redis_server import AnswerLosingProxy, RedisServer
from tests.support.utils.semaphore_contenders import wait_for_redis

pytestmark = pytest.mark.slow

ACQUIRED, SKIPPED, UNKNOWN = SemaphoreOutcome


def outcome(**options: Any) -> SemaphoreOutcome:
    """What a contender hears."""
    with with_semaphore_lock("key", **options) as slot:
        return slot.outcome


def is_queried() -> bool:
    """Return whether a command would be sent to Redis, which fails."""
    with pytest.raises(RedisUnavailableError) as response:
        redis_client.execute(lambda redis: redis.get("value"))
    return response.value.attempted


def holders(server: RedisServer) -> int:
    return sum(server.client.zcard(key) for key in server.client.scan_iter("*:holders"))


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contender is soon out of patience, and what it then knows is not soon forgotten."""
    wait_for_redis(monkeypatch, 5)
    monkeypatch.setattr(redis_client, "OPEN_S", 3600.0)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("warm", [True, False])
def test_a_redis_that_hangs_is_unknown_and_what_it_did_unheard_is_taken_back(server: RedisServer, warm: bool) -> None:
    if warm:
        assert outcome() is ACQUIRED
        server.client.delete(*server.client.scan_iter())
    with server.paused():
        assert outcome(ttl=600) is UNKNOWN
        assert not is_queried(), "the next contender does not wait"
    until(lambda: next(server.client.scan_iter("*:fencing_token"), None) is not None)
    until(lambda: holders(server) == 0)


@pytest.mark.usefixtures("soon")
def test_a_dead_redis_is_unknown_left_alone_for_a_while_and_not_replaced_by_the_database(
    server: RedisServer, world: World
) -> None:
    server.kill()
    assert outcome(wait_s=24 * 3600) is UNKNOWN, "no contender waits for it"
    server.restart()
    assert outcome() is UNKNOWN
    assert not is_queried()
    assert world.query("SELECT COUNT(*) FROM semaphores")[0][0] == 0


def test_a_redis_that_dies_meanwhile_does_not_undo_the_work(server: RedisServer) -> None:
    with with_semaphore_lock("key") as slot:
        server.kill()
    assert slot.outcome is ACQUIRED


def test_a_connection_that_died_between_two_questions_is_replaced(server: RedisServer) -> None:
    assert outcome() is ACQUIRED
    server.kill()
    server.restart()
    assert outcome() is ACQUIRED


needs_redis_server = pytest.mark.skipif(
    shutil.which("redis-server") is None,
    reason="asks for what the substitute lacks; install redis-server (sudo apt-get install -y redis-server)",
)


def fill(server: RedisServer) -> None:
    """Redis has no room for another value."""
    server.client.config_set("maxmemory", 1)
    with pytest.raises(RedisUnavailableError):
        redis_client.execute(lambda redis: redis.set("value", "x"))


@needs_redis_server
def test_a_full_redis_refuses_values_and_evicts_no_holder(server: RedisServer) -> None:
    assert server.client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    with with_semaphore_lock("key"):
        fill(server)
        assert outcome() is SKIPPED
    assert holders(server) == 0


@needs_redis_server
def test_a_redis_that_evicts_lets_two_in(server: RedisServer) -> None:
    server.client.config_set("maxmemory-policy", "allkeys-lru")
    with with_semaphore_lock("key"):
        fill(server)
        assert outcome() is ACQUIRED


@needs_redis_server
def test_a_redis_that_became_a_replica_is_queried_on_a_new_connection(server: RedisServer) -> None:
    before = redis_client.execute(lambda redis: redis.client_id())
    server.client.replicaof("127.0.0.1", 1)
    assert outcome() is UNKNOWN
    server.client.replicaof("NO", "ONE")
    assert redis_client.execute(lambda redis: redis.client_id()) != before
    assert outcome() is ACQUIRED


@pytest.fixture
def proxy(server: RedisServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnswerLosingProxy]:
    """The application's way to Redis."""
    made = AnswerLosingProxy(server.url)
    monkeypatch.setenv("REDIS_URL", made.url)
    forget_redis()
    yield made
    made.close()


def test_an_acquire_that_is_sent_again_is_not_busy_with_itself(proxy: AnswerLosingProxy, server: RedisServer) -> None:
    proxy.lose_next()
    with with_semaphore_lock("key") as slot:
        assert (slot.outcome, proxy.lost, holders(server)) == (ACQUIRED, 1, 1)
    assert holders(server) == 0


def test_a_set_nx_that_is_sent_again_is_busy_with_itself(proxy: AnswerLosingProxy) -> None:
    proxy.lose_next()
    assert redis_client.execute(lambda redis: redis.set("naive", "locked", nx=True)) is None
    assert proxy.lost == 1


def test_what_redis_refuses_is_no_outage_for_others(server: RedisServer) -> None:
    server.client.set("text", "x")
    with pytest.raises(RedisUnavailableError):
        redis_client.execute(lambda redis: redis.incr("text"))
    assert redis_client.execute(lambda redis: redis.get("text")) == b"x"
