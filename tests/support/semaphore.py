"""Contenders for a semaphore in processes of their own, a judge of what they do, and locks as they are often published.

The judge uses a connection of its own and nothing of the application's.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Barrier
from typing import Any, Protocol, cast

import pytest
from redis import Redis

from shell.utils import redis_client
from shell.utils.semaphore import SemaphoreOutcome, with_semaphore_lock
from tests.support.database import until

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.support.workers", __name__])
PATIENCE_S = 60

_ENTER = """
local inside = redis.call('INCR', 'inside')
redis.call('SET', 'most', math.max(inside, tonumber(redis.call('GET', 'most') or '0')))
redis.call('INCR', 'entered')
"""


def warm_up() -> None:
    """Start a process that does nothing, and so what all others are forked from."""
    process = _FORKS.Process(target=int)
    process.start()
    process.join(PATIENCE_S)


class Judge:
    """Counts who is inside, and how many were at most."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._client = Redis.from_url(url)

    def begin(self) -> None:
        """Forget earlier contests."""
        self._client.flushdb()

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Somebody is inside for the block."""
        self._client.eval(_ENTER, 0)
        try:
            yield
        finally:
            self._client.decr("inside")

    def entered(self) -> int:
        """How many were ever inside."""
        return int(cast(Any, self._client.get("entered")) or 0)

    def most(self) -> int:
        """How many were inside at once."""
        return int(cast(Any, self._client.get("most")) or 0)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


def _use(environment: Mapping[str, str]) -> None:
    """Whoever contends on a busy machine is more patient than the application, for which half a second is UNKNOWN."""
    os.environ.update(environment)
    redis_client.CONNECT_TIMEOUT_S = redis_client.REPLY_TIMEOUT_S = 20.0


def contend(environment: Mapping[str, str], judge: Judge, limit: int, *, processes: int, threads: int) -> int:
    """Everybody wants in at once and waits for it; returns how many came out again."""
    start = _FORKS.Barrier(processes * threads)
    finished = _FORKS.Value("i", 0)
    arguments = (dict(environment), judge.url, limit, threads, start, finished)
    running = [_FORKS.Process(target=_contenders, args=arguments, daemon=True) for _ in range(processes)]
    for process in running:
        process.start()
    for process in running:
        process.join(PATIENCE_S)
    return int(finished.value)


def _contenders(
    environment: Mapping[str, str], judge_url: str, limit: int, threads: int, start: Barrier, finished: Any
) -> None:
    _use(environment)
    judge = Judge(judge_url)

    def contender(_: int) -> None:
        start.wait(PATIENCE_S)
        with with_semaphore_lock("contest", 60, limit=limit, wait_s=PATIENCE_S) as slot:
            assert slot.outcome is SemaphoreOutcome.ACQUIRED
            with judge.inside():
                # Nobody leaves before the house was full once: then all slots can be used.
                until(lambda: judge.most() >= limit)
        with finished.get_lock():
            finished.value += 1

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(contender, range(threads)))


def start_holder(environment: Mapping[str, str], judge: Judge, key: str, ttl: float) -> ForkServerProcess:
    """A process that is inside and never leaves, to be killed."""
    arguments = (dict(environment), judge.url, key, ttl)
    process = _FORKS.Process(target=_hold, args=arguments, daemon=True)
    process.start()
    until(lambda: judge.entered() == 1)
    return process


def _hold(environment: Mapping[str, str], judge_url: str, key: str, ttl: float) -> None:
    _use(environment)
    with with_semaphore_lock(key, ttl) as slot, Judge(judge_url).inside():
        assert slot
        threading.Event().wait()


def inside_after_fork(environment: Mapping[str, str]) -> int:
    """How many of a process that has used the semaphore and its fork are in the same single slot at once."""
    granted, both_tried = _FORKS.Value("i", 0), _FORKS.Barrier(2)
    arguments = (dict(environment), granted, both_tried)
    process = _FORKS.Process(target=_parent_and_fork, args=arguments, daemon=True)
    process.start()
    process.join(PATIENCE_S)
    assert process.exitcode == 0
    return int(granted.value)


def _parent_and_fork(environment: Mapping[str, str], granted: Any, both_tried: Barrier) -> None:
    _use(environment)
    with with_semaphore_lock("warm") as slot:
        assert slot
    child = os.fork()
    with with_semaphore_lock("forked", 60) as slot:
        with granted.get_lock():
            granted.value += bool(slot)
        both_tried.wait(PATIENCE_S)
    if not child:
        os._exit(0)
    os.waitpid(child, 0)


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
    """SET with NX and PX, and DEL by whoever leaves."""

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
