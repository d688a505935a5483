"""Effects that are counted, and the semaphore in Redis and in the database."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.application.cleared_caches import forget_redis
from tests.support.application.driver import World
from tests.support.servers.redis_server import RedisServer, private_redis
from tests.support.utils.counted_effects import Effects
from tests.support.utils.semaphore_contenders import wait_for_redis
from tests.support.utils.semaphore_stores import InDatabase, InRedis, Store


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Redis is waited for on a busy machine too."""
    wait_for_redis(monkeypatch, 20)


@pytest.fixture(params=["redis", "database"])
def store(request: pytest.FixtureRequest, world: World) -> Iterator[Store]:
    """The same semaphore twice; the application uses the store for the length of the test."""
    if request.param == "database":
        yield InDatabase(world)
        return
    made = InRedis(request.getfixturevalue("with_redis"))
    yield made
    made.close()


@pytest.fixture
def server(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisServer]:
    """A Redis of this test's own, which the application uses, to be maltreated."""
    with private_redis() as made:
        monkeypatch.setenv("REDIS_URL", made.url)
        forget_redis()
        yield made
        monkeypatch.undo()
        forget_redis()


@pytest.fixture
def other() -> Iterator[ThreadPoolExecutor]:
    """Another thread, which holds no lock."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


@pytest.fixture
def effects(world: World) -> Effects:
    """The effects of a clean world."""
    return Effects(world)
