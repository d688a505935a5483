"""Many clients of the API at once: several processes with one request at a time in each, as Lambda has it."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
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
    """So many equal requests, one after the other; the first of all processes at once."""
    if _meeting is not None:
        _meeting.wait(60)
    return [Client().post(path, body, key) for _ in range(times)]


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
