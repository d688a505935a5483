"""Clients of custody who meet: all at once, or one just before the other commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, event

from shell.custody import device_locks
from shell.db import connection, retry, session
from shell.settings import settings
from tests.integration.custody.custody_values import WAYS
from tests.support.database.counted_database import PATIENCE_S, Database, barrier, outcome, together

Request = Callable[[Engine], Any]
# The way of locking of the client at work in this thread.
_GOING: ContextVar[str] = ContextVar("going", default=WAYS[0])


@contextmanager
def clients(database: Database, count: int) -> Iterator[list[Engine]]:
    """An environment for each client, whose way of locking is that of `going`; retries come after some milliseconds.

    What a client does aside, in a session of its own, it does on the process's engine, which here has room for all.
    """
    roomy = create_engine(
        database.url, isolation_level="READ COMMITTED", pool_size=count, connect_args=connection.connect_args()
    )
    with database.environments(count) as engines, pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "engine", lambda: roomy)
        patch.setattr(retry, "STALE_DELAY_S", 0.005)
        patch.setattr(device_locks, "settings", lambda: replace(settings(), custody_locking=_GOING.get()))
        yield engines
    roomy.dispose()


def going(way: str, request: Request) -> Request:
    """The request of a client that locks in this way."""

    def ask(on: Engine) -> object:
        _GOING.set(way)
        return request(on)

    return ask


def at_once(engines: Sequence[Engine], *requests: Request) -> list[Any]:
    """Make the requests at once, each from an environment of its own; what each got, an error too."""
    meeting = barrier(len(requests))

    def ask(on: Engine, request: Request) -> object:
        meeting.wait()
        return request(on)

    return together(*(outcome(partial(ask, *each)) for each in zip(engines, requests, strict=True)))


def overtaking(database: Database, engines: Sequence[Engine], first: Request, late: Request) -> tuple[Any, Any]:
    """What both got; `first` has written everything and commits once `late` waits for a lock of it."""
    answers: list[Future[Any]] = []
    with ThreadPoolExecutor(1) as pool:

        def let_the_late_one_come(_connection: object) -> None:
            answers.append(pool.submit(outcome(partial(late, engines[1]))))
            database.until_waiting(1)

        event.listen(engines[0], "commit", let_the_late_one_come, once=True)
        return first(engines[0]), answers[0].result(PATIENCE_S)
