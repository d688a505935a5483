"""Many clients of the API at once, each request in one of several processes, as Lambda spreads them."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from typing import Any

from tests.support.api import Client, Reply

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__, "imports_api", "exhibits_api"])
_meeting: Barrier | None = None


def _prepare(environment: Mapping[str, str], meeting: Barrier) -> None:
    global _meeting
    os.environ.update(environment)
    _meeting = meeting


def _post(path: str, body: Any, key: str, times: int) -> list[Reply]:
    """So many equal requests from this process, at once with those of the other processes."""
    if _meeting is not None:
        _meeting.wait(60)
    with ThreadPoolExecutor(times) as threads:
        sent = [threads.submit(Client().post, path, body, key) for _ in range(times)]
        return [each.result(60) for each in sent]


class Clients:
    """Processes that send requests."""

    def __init__(self, pool: ProcessPoolExecutor, count: int) -> None:
        self._pool, self._count = pool, count

    def begin(self, path: str, body: Any, key: str, times: int) -> list[Future[list[Reply]]]:
        """POST the same in all processes, so many times in each."""
        return [self._pool.submit(_post, path, body, key, times) for _ in range(self._count)]


def replies(sent: Sequence[Future[list[Reply]]]) -> list[Reply]:
    """All answers."""
    return [reply for each in sent for reply in each.result(120)]


@contextmanager
def clients(environment: Mapping[str, str], count: int) -> Iterator[Clients]:
    """So many processes for the block."""
    arguments = (dict(environment), _FORKS.Barrier(count))
    with ProcessPoolExecutor(count, _FORKS, initializer=_prepare, initargs=arguments) as pool:
        yield Clients(pool, count)
