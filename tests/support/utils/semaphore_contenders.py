"""A judge of those who contend for a semaphore, and locks as they are often published."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Protocol

import pytest
from redis import Redis

from shell.utils import redis_client
from shell.utils.semaphore import with_semaphore_lock
from tests.support.application.cleared_caches import close_redis
from tests.support.database.counted_database import until

PATIENCE_S = 60


def wait_for_redis(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the application wait so long for Redis; at half a second a busy machine makes any outcome UNKNOWN."""
    for name in ("CONNECT_TIMEOUT_S", "REPLY_TIMEOUT_S"):
        patch.setattr(redis_client, name, seconds)
    close_redis()


class Judge:
    """Counts who is inside, and how many were at most, with nothing of the application's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = self.entered = self.most = 0

    @contextmanager
    def inside(self) -> Iterator[None]:
        """A holder is inside for the block."""
        with self._lock:
            self._inside += 1
            self.entered += 1
            self.most = max(self.most, self._inside)
        try:
            yield
        finally:
            with self._lock:
                self._inside -= 1


class Lock(Protocol):
    """One contender for one slot."""

    def acquire(self) -> bool:
        """Whether it is in."""
        ...

    def release(self) -> None:
        """It leaves, or means to."""
        ...


class Ours:
    """Our semaphore, entered and left by hand."""

    def __init__(self, key: str, ttl: float) -> None:
        self._key, self._ttl, self._inside = key, ttl, ExitStack()

    def acquire(self) -> bool:
        return bool(self._inside.enter_context(with_semaphore_lock(self._key, self._ttl)))

    def release(self) -> None:
        self._inside.close()


class Published:
    """SET with NX and PX, and DEL by each holder that leaves."""

    def __init__(self, client: Redis, key: str, ttl: float) -> None:
        self._client, self._key, self._ttl_ms = client, key, int(ttl * 1000)

    def acquire(self) -> bool:
        return bool(self._client.set(self._key, "locked", nx=True, px=self._ttl_ms))

    def release(self) -> None:
        self._client.delete(self._key)


class ByOwnClock:
    """A sorted set of holders by the client's clock."""

    def __init__(self, client: Redis, key: str, ttl: float) -> None:
        self._client, self._key, self._ttl = client, key, ttl

    def acquire(self) -> bool:
        now = time.time()
        self._client.zremrangebyscore(self._key, "-inf", now)
        free = self._client.zcard(self._key) == 0
        if free:
            self._client.zadd(self._key, {str(id(self)): now + self._ttl})
        return free

    def release(self) -> None:
        self._client.zrem(self._key, str(id(self)))


Maker = Callable[[float], Lock]


def inside_after_a_late_release(make: Maker) -> int:
    """A's time ends, B enters, A leaves, C wants in: how many are inside now."""
    late, second, third = make(0.1), make(60), make(60)
    assert late.acquire()
    until(second.acquire)
    late.release()
    inside = 1 + third.acquire()
    second.release()
    return inside


def inside_with_skewed_clocks(make: Maker, first_s: float, second_s: float) -> int:
    """Two want in, one after the other, by clocks that are wrong by so many seconds: how many are inside."""
    with _clock_wrong_by(first_s):
        first = make(10)
        assert first.acquire()
    with _clock_wrong_by(second_s):
        inside = 1 + make(10).acquire()
    first.release()
    return inside


@contextmanager
def _clock_wrong_by(seconds: float) -> Iterator[None]:
    true, true_ns = time.time, time.time_ns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: true() + seconds)
        patch.setattr(time, "time_ns", lambda: true_ns() + int(seconds * 1e9))
        yield
