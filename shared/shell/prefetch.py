"""Prepare the next item in a second thread while the caller works on the current one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def reading_ahead(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Yield an executor for the block of a generator; at its end, the calls in progress are not waited for.

    A generator that is not exhausted can be closed by the garbage collector, which runs in any thread, even in one that
    is being started: to wait for another thread there is a deadlock.
    """
    executor = ThreadPoolExecutor(threads)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


def prefetch(prepare: Callable[[T], R], items: Iterable[T]) -> Generator[Callable[[], R]]:
    """Yield a function for each item, in order, that waits for the item's result and returns it or raises its error.

    Guaranteed: items are prepared in order, one at a time, in one thread and with the caller's context variables; at
    most one is prepared ahead of the one that the caller has; the thread has ended when the generator is exhausted or
    closed.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="prefetch") as executor:
        ahead: deque[Future[R]] = deque()
        for item in items:
            ahead.append(executor.submit(copy_context().run, prepare, item))
            if len(ahead) > 1:
                yield ahead.popleft().result
        while ahead:
            yield ahead.popleft().result
