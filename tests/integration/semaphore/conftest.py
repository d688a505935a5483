"""The semaphore where its slots are in Redis and where they are in the database, and a judge who counts apart."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from shell.observability import logger
from shell.settings import settings
from shell.utils import redis_client
from shell.utils.semaphore_backends import Backend, MySqlBackend, RedisBackend
from tests.support.redis_server import RedisServer, private_redis
from tests.support.semaphore import Judge, warm_up
from tests.support.world import World


class Store(ABC):
    """Where the slots are, seen from a connection that is not the application's."""

    backend: Backend

    @abstractmethod
    def holders(self) -> int:
        """How many are written down, their time over or not."""

    @abstractmethod
    def seconds_left(self) -> float:
        """Of the one holder."""

    @abstractmethod
    def forget(self) -> None:
        """Lose everything, as after a restart."""

    @abstractmethod
    def set_fence(self, fence: int) -> None:
        """As if the one semaphore's last fence had been this."""


class InRedis(Store):
    """Slots in Redis."""

    def __init__(self, url: str) -> None:
        self.backend = RedisBackend()
        self._client = Redis.from_url(url)

    def _key(self, end: str) -> bytes:
        return next(self._client.scan_iter(f"*:{end}"), b"none")

    def holders(self) -> int:
        return self._client.zcard(self._key("holders"))

    def seconds_left(self) -> float:
        return self._client.pttl(self._key("holders")) / 1000

    def forget(self) -> None:
        self._client.flushall()

    def set_fence(self, fence: int) -> None:
        self._client.set(self._key("fence"), fence)

    def close(self) -> None:
        self._client.close()


class InDatabase(Store):
    """Slots in the database."""

    def __init__(self, world: World) -> None:
        self.backend = MySqlBackend()
        self._world = world

    def holders(self) -> int:
        return int(self._world.query("SELECT COUNT(*) FROM semaphore_holders")[0][0])

    def seconds_left(self) -> float:
        left = "SELECT TIMESTAMPDIFF(MICROSECOND, NOW(6), expires_at) FROM semaphore_holders"
        return float(self._world.query(left)[0][0]) / 1_000_000

    def forget(self) -> None:
        self._world.query("DELETE FROM semaphore_holders")
        self._world.query("DELETE FROM semaphores")

    def set_fence(self, fence: int) -> None:
        self._world.query("UPDATE semaphores SET fence = :fence", fence=fence)


@pytest.fixture(params=["redis", "database"])
def store(request: pytest.FixtureRequest, world: World) -> Iterator[Store]:
    """The same semaphore twice; the application uses the store for the length of the test."""
    if request.param == "database":
        yield InDatabase(world)
        return
    made = InRedis(request.getfixturevalue("with_redis"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def forks() -> None:
    """What processes are forked from imports the application once, on nobody's time."""
    warm_up()


@pytest.fixture
def environment_now(
    migrated: dict[str, str], request: pytest.FixtureRequest, store: Store, forks: None
) -> dict[str, str]:
    """The variables with which another process uses the same store."""
    ours = isinstance(store, InRedis)
    return {**migrated, "REDIS_URL": request.getfixturevalue("redis_url") if ours else ""}


@pytest.fixture
def judge(redis_url: str) -> Iterator[Judge]:
    """Who counts those inside, in a database of Redis that the application does not use."""
    made = Judge(redis_url.replace("/0", "/1"))
    made.begin()
    yield made
    made.close()


@pytest.fixture
def server(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisServer]:
    """A Redis of this test's own, which the application uses, to be maltreated."""
    with private_redis() as made:
        monkeypatch.setenv("REDIS_URL", made.url)
        settings.cache_clear()
        redis_client.forget()
        yield made
        monkeypatch.undo()
        settings.cache_clear()
        redis_client.forget()


class Log:
    """What the application's logger wrote."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    def lines(self) -> list[dict[str, Any]]:
        """Each line as the object that it is."""
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    def messages(self) -> list[str]:
        """What each line says."""
        return [line["message"] for line in self.lines()]


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    """What the application logs during the test."""
    written = Log()
    monkeypatch.setattr(logger.registered_handler, "stream", written.stream)
    return written
