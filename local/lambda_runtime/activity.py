"""What the pump is doing: how much is under way, how much was done, what went wrong last."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from local.invocation import InvocationFailed


class Activity:
    """Counts that several threads keep; failures also go to a log file."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._changed = threading.Condition()
        self._under_way = 0
        self._begun = 0
        self._failures: list[InvocationFailed] = []
        self._broken: Exception | None = None

    def begin(self, count: int = 1) -> None:
        """Something was taken on; `end` says that it is done."""
        with self._changed:
            self._under_way += count
            self._begun += count

    def end(self) -> None:
        """One thing that was taken on is done."""
        with self._changed:
            self._under_way -= 1
            self._changed.notify_all()

    @contextmanager
    def one(self) -> Iterator[None]:
        """Something is under way for as long as the block runs."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def failed(self, failure: InvocationFailed) -> None:
        """An invocation failed; its messages will be delivered again."""
        line = f"{datetime.now(UTC).isoformat(timespec='milliseconds')} {failure}\n"
        with self._changed:
            self._failures.append(failure)
            with self._log.open("a", encoding="utf-8") as log:
                log.write(line + "".join(failure.stack_trace))
            self._changed.notify_all()

    def broke(self, error: Exception) -> None:
        """A part of the pump cannot go on; whoever waits is told."""
        with self._changed:
            self._broken = self._broken or error
            self._changed.notify_all()

    def check(self) -> None:
        """Raise what broke, if something did."""
        if self._broken:
            raise self._broken

    def at_rest(self) -> int | None:
        """None while something is under way, else how much was ever begun."""
        with self._changed:
            return None if self._under_way else self._begun

    def failures(self, after: int = 0) -> list[InvocationFailed]:
        """Failed invocations in their order, without the first `after`."""
        with self._changed:
            return self._failures[after:]

    def wait(self, seconds: float) -> None:
        """Sleep until something is done or the time is over."""
        with self._changed:
            self._changed.wait(seconds)
