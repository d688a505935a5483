"""One invocation of a function, from the request to its single result."""

from __future__ import annotations

import re
import threading
import time
import uuid
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from local.errors import LocalError

# Lambda starts a function again too, whose process ends before its first invocation.
STARTS = 3
_STARTS_FAILED = f"; {STARTS} starts failed"
_FAILURE = re.compile(r"(\w+) failed: ([\w.]+): (.*) \(log: (.+)\)$")


class InvocationFailedError(LocalError):
    """A function raised, timed out, or its process died; `error_type` is Lambda's name for the error."""

    def __init__(self, function: str, error_type: str, message: str, log: Path, stack_trace: Any = None) -> None:
        super().__init__(f"{function} failed: {error_type}: {message} (log: {log})")
        self.function = function
        self.error_type = error_type
        self.message = message
        self.stack_trace: list[str] = list(stack_trace or [])
        self.log = log

    @staticmethod
    def parse(line: str) -> InvocationFailedError | None:
        """Return the failure from a line that ends with its message, without its stack trace; None for another line."""
        match = _FAILURE.search(line)
        if match is None:
            return None
        is_start = match[3].endswith(_STARTS_FAILED)
        failure = InvocationFailedError(match[1], match[2], match[3].removesuffix(_STARTS_FAILED), Path(match[4]))
        return FunctionStartError(failure) if is_start else failure


class FunctionStartError(InvocationFailedError):
    """A function's process ended before it fetched an invocation, STARTS times in a row: its code cannot start."""

    def __init__(self, last: InvocationFailedError) -> None:
        super().__init__(last.function, last.error_type, last.message + _STARTS_FAILED, last.log, last.stack_trace)


@dataclass
class Invocation:
    """A request to a function; its timeout, in real seconds, starts when a worker fetches it."""

    payload: bytes
    arn: str
    timeout: float
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    _fetched: threading.Event = field(default_factory=threading.Event)
    _fetched_at: float = 0.0
    _result: Future[bytes] = field(default_factory=Future)

    @property
    def was_fetched(self) -> bool:
        """Whether a worker has fetched it."""
        return self._fetched_at > 0

    def renew(self) -> Invocation:
        """Return the same request without a result, for another worker."""
        return Invocation(self.payload, self.arn, self.timeout)

    def mark_fetched(self) -> int:
        """Start the timeout; return the deadline as a Unix timestamp in milliseconds."""
        self._fetched_at = time.monotonic()
        self._fetched.set()
        return int((time.time() + self.timeout) * 1000)

    def succeed(self, body: bytes) -> None:
        """Set the function's response; do nothing if there is a result already."""
        try:
            self._result.set_result(body)
        except InvalidStateError:
            return

    def fail(self, failure: InvocationFailedError) -> None:
        """Set the function's failure; do nothing if there is a result already."""
        try:
            self._result.set_exception(failure)
        except InvalidStateError:
            return
        self._fetched.set()

    def wait_until_fetched(self, seconds: float) -> bool:
        """Wait until a worker has fetched it or it has failed; return False if the real seconds are over first."""
        return self._fetched.wait(seconds)

    def wait_for_result(self) -> bytes | None:
        """Return the response, or None after the timeout; raise InvocationFailedError if the function failed."""
        remaining = self.timeout - (time.monotonic() - self._fetched_at) if self._fetched_at else 0.0
        try:
            return self._result.result(timeout=max(remaining, 0.0))
        except TimeoutError:
            return None
