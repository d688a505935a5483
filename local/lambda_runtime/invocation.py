"""One invocation of a function, from the request to its one outcome."""

from __future__ import annotations

import threading
import time
import uuid
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.errors import LocalError


class InvocationFailed(LocalError):
    """A function raised, timed out, or its process died; `error_type` is Lambda's word for it."""

    def __init__(self, function: str, error_type: str, message: str, log: Path, stack_trace: Any = None) -> None:
        super().__init__(f"{function} failed: {error_type}: {message} (log: {log})")
        self.function = function
        self.error_type = error_type
        self.message = message
        self.stack_trace: list[str] = list(stack_trace or [])
        self.log = log


@dataclass
class Invocation:
    """A request on its way; the clock of its time-out (real seconds) starts when a worker fetches it."""

    payload: bytes
    arn: str
    timeout: float
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    _fetched: threading.Event = field(default_factory=threading.Event)
    _fetched_at: float = 0.0
    _outcome: Future[bytes] = field(default_factory=Future)

    def fetch(self) -> int:
        """Note that a worker has it now; gives the deadline in milliseconds since the epoch."""
        self._fetched_at = time.monotonic()
        self._fetched.set()
        return int((time.time() + self.timeout) * 1000)

    def succeed(self, body: bytes) -> None:
        """The function's answer; ignored where there is an outcome already."""
        try:
            self._outcome.set_result(body)
        except InvalidStateError:
            return

    def fail(self, failure: InvocationFailed) -> None:
        """The function's failure; ignored where there is an outcome already."""
        try:
            self._outcome.set_exception(failure)
        except InvalidStateError:
            return
        self._fetched.set()

    def was_fetched(self, within: float) -> bool:
        """Wait, real seconds, until a worker has it or it failed before that."""
        return self._fetched.wait(within)

    def outcome(self) -> bytes | None:
        """Wait for the answer until the time-out, where it gives None; raises InvocationFailed."""
        left = self.timeout - (time.monotonic() - self._fetched_at) if self._fetched_at else 0.0
        try:
            return self._outcome.result(timeout=max(left, 0.0))
        except NotYet:
            return None
