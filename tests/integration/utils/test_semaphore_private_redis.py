"""The private Redis of the local stack and of these tests: empty at each start, and played where there is none."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from redis import Redis

from local.errors import ProcessFailedError
from local.services.redis import PrivateRedis
from shell.utils.semaphore import SemaphoreOutcome, with_semaphore_lock
from tests.support.application.cleared_caches import forget_redis


@pytest.fixture(params=["redis-server", "substitute"])
def private(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivateRedis]:
    """A server that was not started yet."""
    if request.param == "substitute":
        monkeypatch.setenv("PATH", os.devnull)
    made = PrivateRedis(tmp_path)
    yield made
    made.stop()


def test_it_forgets_everything_between_two_starts_at_one_address(private: PrivateRedis) -> None:
    first = private.start()
    with Redis.from_url(first) as client:
        client.set("key", "value")
    process = psutil.Process(private.pid)
    private.stop()
    assert not process.is_running()
    assert private.start() == first
    with Redis.from_url(first) as client:
        assert client.get("key") is None


@pytest.mark.usefixtures("migrated")
def test_the_semaphore_works_on_it(private: PrivateRedis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", private.start())
    forget_redis()
    try:
        with with_semaphore_lock("key") as first, with_semaphore_lock("key") as second:
            assert (first.outcome, second.outcome) == (SemaphoreOutcome.ACQUIRED, SemaphoreOutcome.SKIPPED)
        with with_semaphore_lock("key") as third:
            assert third.fencing_token > first.fencing_token
    finally:
        monkeypatch.undo()
        forget_redis()


def test_a_program_that_does_not_start_is_reported(tmp_path: Path) -> None:
    broken = PrivateRedis(tmp_path, program="false")
    with pytest.raises(ProcessFailedError, match="did not start"):
        broken.start()
    with pytest.raises(ProcessFailedError):
        assert broken.pid
