"""Many clients of the API at once: several processes with one request at a time in each, as Lambda has it."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.synchronize import Barrier
from typing import Any

from tests.support.api.client import Client, Reply

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        *(__name__, "imports_api", "import_checks_api", "exhibits_api", "custodians_api", "custody_api"),
        *("cases_api", "productions_api", "profiles_api", "volumes_api", "activities_api", "production_files_api"),
        "exports_api",
        *("import_results_api", "uploads_api"),
    ]
)
_meeting: Barrier | None = None


def _prepare(environment: Mapping[str, str], meeting: Barrier, change: Callable[[], None]) -> None:
    global _meeting
    os.environ.update(environment)
    _meeting = meeting
    change()


def meet() -> None:
    """Wait, in such a process, until all of them are there."""
    if _meeting is not None:
        _meeting.wait(60)


def _post(path: str, body: Any, key: str, times: int) -> list[Reply]:
    """So many equal requests, one after the other; the first of all processes at once."""
    meet()
    return [Client().post(path, body, key) for _ in range(times)]


def _as_it_is() -> None:
    """Change nothing."""


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
def clients(environment: Mapping[str, str], count: int, change: Callable[[], None] = _as_it_is) -> Iterator[Clients]:
    """So many processes for the block; `change`, which can be pickled, is what each of them does to itself first."""
    arguments = (dict(environment), _FORKS.Barrier(count), change)
    with ProcessPoolExecutor(count, _FORKS, initializer=_prepare, initargs=arguments) as pool:
        yield Clients(pool, count)
