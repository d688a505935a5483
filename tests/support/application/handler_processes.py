"""The handlers in processes of their own, as Lambda runs them: for races, and for workers that are killed.

Processes are forked from a server that has imported the application and done nothing else, so that each has its own
engine and its own clients and starts in milliseconds.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Barrier

from tests.support.application.driver import Message, call

_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload([__name__])
_meeting: Barrier | None = None
PATIENCE_S = 60


def _prepare(environment: Mapping[str, str], meeting: Barrier | None) -> None:
    global _meeting
    os.environ.update(environment)
    _meeting = meeting


def _deliver(handler: str, messages: Sequence[Message], at_once: bool) -> list[bool]:
    if at_once and _meeting is not None:
        _meeting.wait(PATIENCE_S)
    function = importlib.import_module(handler).lambda_handler
    return [call(function, message) for message in messages]


class Workers:
    """A number of processes that call handlers."""

    def __init__(self, pool: ProcessPoolExecutor, count: int) -> None:
        self._pool, self.count = pool, count

    def deliver(self, handler: str, messages: Sequence[Message]) -> list[bool]:
        """Hand out the messages, one at a time, to whichever worker is free; True for each that succeeded."""
        futures = [self._pool.submit(_deliver, handler, [message], False) for message in messages]
        return [future.result()[0] for future in futures]

    def at_once(self, handler: str, messages: Sequence[Message]) -> list[bool]:
        """One message for each worker; none begins before all are ready."""
        assert len(messages) == self.count
        futures = [self._pool.submit(_deliver, handler, [message], True) for message in messages]
        return [future.result()[0] for future in futures]


@contextmanager
def running(environment: Mapping[str, str], count: int) -> Iterator[Workers]:
    """Workers that live as long as the block."""
    arguments = (dict(environment), _FORKS.Barrier(count))
    with ProcessPoolExecutor(count, _FORKS, initializer=_prepare, initargs=arguments) as pool:
        yield Workers(pool, count)


def _alone(environment: Mapping[str, str], handler: str, *messages: Message) -> None:
    _prepare(environment, None)
    call(importlib.import_module(handler).lambda_handler, *messages)


def ended_well(process: ForkServerProcess) -> bool:
    """Wait for the end of a process, and tell whether it ended by itself and without an error."""
    process.join(PATIENCE_S)
    return process.exitcode == 0


def start_alone(environment: Mapping[str, str], handler: str, *messages: Message) -> ForkServerProcess:
    """A process that handles a batch of messages, to be watched and killed."""
    process = _FORKS.Process(target=_alone, args=(dict(environment), handler, *messages), daemon=True)
    process.start()
    return process
