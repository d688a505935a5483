"""Effects that are counted, the semaphore in Redis and in the database, and a judge who counts apart."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shell.observability import logger
from tests.support.caches import forget_redis
from tests.support.effects import Effects
from tests.support.log import Log
from tests.support.redis_server import RedisServer, private_redis
from tests.support.semaphore import Judge, warm_up
from tests.support.semaphore_stores import InDatabase, InRedis, Store
from tests.support.world import World


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
        forget_redis()
        yield made
        monkeypatch.undo()
        forget_redis()


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Log:
    """What the application logs during the test."""
    written = Log()
    monkeypatch.setattr(logger.registered_handler, "stream", written.stream)
    return written


@pytest.fixture
def effects(world: World) -> Effects:
    """The effects of a clean world."""
    return Effects(world)
