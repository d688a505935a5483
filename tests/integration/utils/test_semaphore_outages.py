"""A Redis that hangs, dies, is full, or is no longer the one to write to: UNKNOWN, soon, and nothing stays behind."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from typing import Any

import pytest

from shell.utils import redis_client
from shell.utils.redis_client import OPEN_S, RedisUnavailableError
from shell.utils.semaphore import SemaphoreOutcome, with_semaphore_lock
from tests.support.caches import close_redis, forget_redis
from tests.support.database import until
from tests.support.log import Log
from tests.support.redis_server import AnswerLosingProxy, RedisServer
from tests.support.world import World

SOON_S, AT_ONCE_S = 2.0, 0.2


def outcome(**options: Any) -> tuple[SemaphoreOutcome, float]:
    """What a contender hears, and after how many seconds."""
    started = time.monotonic()
    with with_semaphore_lock("key", **options) as slot:
        return slot.outcome, time.monotonic() - started


def expect(expected: SemaphoreOutcome, within_s: float, **options: Any) -> None:
    """A contender hears this in time."""
    heard, seconds = outcome(**options)
    assert heard is expected
    assert seconds < within_s


def holders(server: RedisServer) -> int:
    return sum(server.client.zcard(key) for key in server.client.scan_iter("*:holders"))


@pytest.mark.parametrize("warm", [True, False])
def test_a_redis_that_hangs_is_unknown_and_what_it_did_unheard_is_taken_back(server: RedisServer, warm: bool) -> None:
    if warm:
        expect(SemaphoreOutcome.ACQUIRED, SOON_S)
        server.client.delete(*server.client.scan_iter())
    with server.paused():
        expect(SemaphoreOutcome.UNKNOWN, SOON_S, ttl=600)
    until(lambda: next(server.client.scan_iter("*:fencing_token"), None) is not None)
    until(lambda: holders(server) == 0)


def test_what_cannot_be_taken_back_ends_with_its_time(server: RedisServer) -> None:
    with server.paused():
        expect(SemaphoreOutcome.UNKNOWN, SOON_S, ttl=1)
    close_redis()
    expect(SemaphoreOutcome.ACQUIRED, 10, wait_s=10)


def test_the_next_contender_does_not_wait_for_a_redis_that_hangs(server: RedisServer) -> None:
    with server.paused():
        expect(SemaphoreOutcome.UNKNOWN, SOON_S)
        expect(SemaphoreOutcome.UNKNOWN, AT_ONCE_S)


def test_a_dead_redis_is_unknown_and_left_alone_for_a_while(server: RedisServer) -> None:
    server.kill()
    expect(SemaphoreOutcome.UNKNOWN, SOON_S)
    server.restart()
    expect(SemaphoreOutcome.UNKNOWN, AT_ONCE_S)
    assert AT_ONCE_S < OPEN_S


def test_a_dead_redis_is_never_replaced_by_the_database(server: RedisServer, world: World) -> None:
    server.kill()
    expect(SemaphoreOutcome.UNKNOWN, SOON_S, wait_s=10)
    assert world.query("SELECT COUNT(*) FROM semaphores")[0][0] == 0


def test_an_outage_is_one_warning_without_names(server: RedisServer, log: Log) -> None:
    server.kill()
    for _ in range(3):
        outcome()
    assert log.messages().count("Redis is not available") == 1
    assert "127.0.0.1" not in log.stream.getvalue()


def test_a_redis_that_dies_meanwhile_does_not_undo_the_work(server: RedisServer) -> None:
    with with_semaphore_lock("key") as slot:
        server.kill()
    assert slot.outcome is SemaphoreOutcome.ACQUIRED


def test_a_connection_that_died_between_two_questions_is_replaced(server: RedisServer) -> None:
    expect(SemaphoreOutcome.ACQUIRED, SOON_S)
    server.kill()
    server.restart()
    expect(SemaphoreOutcome.ACQUIRED, SOON_S)


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
        expect(SemaphoreOutcome.SKIPPED, SOON_S)
    assert holders(server) == 0


@needs_redis_server
def test_a_redis_that_evicts_lets_two_in(server: RedisServer) -> None:
    server.client.config_set("maxmemory-policy", "allkeys-lru")
    with with_semaphore_lock("key"):
        fill(server)
        expect(SemaphoreOutcome.ACQUIRED, SOON_S)


@needs_redis_server
def test_a_redis_that_became_a_replica_is_asked_on_a_new_connection(server: RedisServer) -> None:
    before = redis_client.execute(lambda redis: redis.client_id())
    server.client.replicaof("127.0.0.1", 1)
    expect(SemaphoreOutcome.UNKNOWN, SOON_S)
    server.client.replicaof("NO", "ONE")
    assert redis_client.execute(lambda redis: redis.client_id()) != before
    expect(SemaphoreOutcome.ACQUIRED, SOON_S)


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
        assert (slot.outcome, proxy.lost, holders(server)) == (SemaphoreOutcome.ACQUIRED, 1, 1)
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
