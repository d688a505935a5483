"""The work of a stack: how many tasks are in progress, how many were begun, which failed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from local.lambda_runtime.invocation import InvocationFailedError


class Activity:
    """Thread-safe counters of tasks; failures are also written to a log file."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._changed = threading.Condition()
        self._in_progress = 0
        self._begun = 0
        self._failures: list[InvocationFailedError] = []
        self._fatal_error: Exception | None = None
        self._checks: list[Callable[[], None]] = []

    def begin(self, count: int = 1) -> None:
        """Count tasks as begun; call `end` once for each."""
        with self._changed:
            self._in_progress += count
            self._begun += count

    def end(self) -> None:
        """Count one task as done."""
        with self._changed:
            self._in_progress -= 1
            self._changed.notify_all()

    @contextmanager
    def track(self) -> Iterator[None]:
        """Count the block as one task."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def record_failure(self, failure: InvocationFailedError) -> None:
        """Record a failed invocation and write it to the log."""
        text = " ".join(str(failure).splitlines())
        line = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {text}\n"
        with self._changed:
            self._failures.append(failure)
            with self._log.open("a", encoding="utf-8") as log:
                log.write(line + "".join(failure.stack_trace))
            self._changed.notify_all()

    def record_fatal_error(self, error: Exception) -> None:
        """Record the error that stopped a poller; `raise_fatal_error` raises the first one."""
        with self._changed:
            self._fatal_error = self._fatal_error or error
            self._changed.notify_all()

    def raise_fatal_error(self) -> None:
        """Raise the recorded fatal error, if there is one."""
        if self._fatal_error:
            raise self._fatal_error

    def watch(self, check: Callable[[], None]) -> None:
        """Have `check_alive` call a function that raises the error of a part that has ended."""
        self._checks.append(check)

    def check_alive(self) -> None:
        """Raise the recorded fatal error, or the error of a part of the stack that has ended."""
        self.raise_fatal_error()
        for check in self._checks:
            check()

    def count_if_idle(self) -> int | None:
        """Return how many tasks were begun so far, or None while a task is in progress."""
        with self._changed:
            return None if self._in_progress else self._begun

    def failures(self, after: int = 0) -> list[InvocationFailedError]:
        """Return the failed invocations in their order, without the first `after`."""
        with self._changed:
            return self._failures[after:]

    def wait(self, seconds: float) -> None:
        """Wait until a task ends or fails, or until the time is over."""
        with self._changed:
            self._changed.wait(seconds)
