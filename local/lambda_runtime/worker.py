"""One worker: a process running AWS's own runtime client, and the Runtime API that it asks for work.

It handles one invocation at a time. After a time-out or a death it is of no use any more, and `alive` says so.
`local.emulator` has the other kind, which runs what was built.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.artifact import Artifact
from local.invocation import Invocation, InvocationFailed
from local.processes import Processes, kill
from local.runtime_api import RuntimeApi

# AWS's own runtime client. What is run in its place has to end up there; the handler is its one argument.
RUNTIME_CLIENT = "awslambdaric"
# Lambda allows ten seconds; a small machine may start many workers at once.
INIT_SECONDS = 120.0


@dataclass(frozen=True)
class WorkerSpec:
    """What the workers of one function have in common; with an artifact, they run what was built."""

    function: str
    handler: str
    environment: Mapping[str, str]
    directory: Path
    log: Path
    artifact: Artifact | None = None
    module: str = RUNTIME_CLIENT


class Worker:
    """A started worker process."""

    def __init__(self, spec: WorkerSpec, processes: Processes) -> None:
        self._spec = spec
        self._lock = threading.Lock()
        self._current: Invocation | None = None
        self._broken: InvocationFailed | None = None
        self._process = self._start(processes)
        self._watcher = threading.Thread(target=self._watch, daemon=True, name=f"watch-{self.pid}")
        self._watcher.start()

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it can take another invocation."""
        return self._broken is None

    @property
    def busy(self) -> bool:
        """Whether it has an invocation now."""
        return self._current is not None

    def run(self, invocation: Invocation) -> bytes:
        """Handle one invocation; raises InvocationFailed."""
        with self._lock:
            if self._broken:
                raise self._broken
            self._current = invocation
        try:
            return self._handle(invocation)
        finally:
            self._current = None

    def close(self) -> None:
        """Kill the process and wait until it is gone."""
        self._kill()
        self._watcher.join()
        self._release()

    def _start(self, processes: Processes) -> subprocess.Popen[bytes]:
        self._api = RuntimeApi(self._on_error)
        return processes.start(
            [sys.executable, "-m", self._spec.module, self._spec.handler],
            environment=dict(self._spec.environment) | {"AWS_LAMBDA_RUNTIME_API": self._api.address},
            directory=self._spec.directory,
            log=self._spec.log,
        )

    def _handle(self, invocation: Invocation) -> bytes:
        self._api.offer(invocation)
        if not invocation.was_fetched(INIT_SECONDS):
            raise self._give_up("Runtime.InitTimeout", f"the worker was not ready after {INIT_SECONDS:.0f} s")
        body = invocation.outcome()
        if body is None:
            raise self._timed_out(invocation)
        return body

    def _kill(self) -> None:
        """Kill the process, and whatever it started, and wait until it is gone."""
        kill(self._process)

    def _release(self) -> None:
        """Let go of what outlives the process."""
        self._api.close()

    def _on_error(self, at_start: bool, error_type: str, message: str, stack_trace: Any) -> None:
        """What the runtime client reports; a worker that could not start is broken."""
        failure = self._failure(error_type, message, stack_trace)
        if at_start:
            self._break(failure)
        elif self._current:
            self._current.fail(failure)

    def _watch(self) -> None:
        status = self._process.wait()
        reason = f"signal: {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        self._break(self._failure("Runtime.ExitError", f"Runtime exited with error: {reason}"))

    def _timed_out(self, invocation: Invocation) -> InvocationFailed:
        message = f"{invocation.request_id} Task timed out after {invocation.timeout:.2f} seconds"
        return self._give_up("Sandbox.Timedout", message)

    def _give_up(self, error_type: str, message: str) -> InvocationFailed:
        failure = self._failure(error_type, message)
        self._break(failure)
        self._kill()
        return failure

    def _break(self, failure: InvocationFailed) -> None:
        with self._lock:
            self._broken = self._broken or failure
            if self._current:
                self._current.fail(self._broken)

    def _failure(self, error_type: str, message: str, stack_trace: Any = None) -> InvocationFailed:
        return InvocationFailed(self._spec.function, error_type, message, self._spec.log, stack_trace)
