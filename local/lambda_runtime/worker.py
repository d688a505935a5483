"""One worker: a process with AWS's runtime client, and the Runtime API that it fetches invocations from.

A worker handles one invocation at a time. After a timeout, or after its process died, it cannot be used again, and
`is_alive` is False. Its process is forked if the function's `forks` is set, and started by itself otherwise; a handler
cannot tell the difference. `local.lambda_runtime.rie_worker` has the other kind of worker, which runs a built artifact.
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

from local.errors import ProcessFailedError
from local.lambda_runtime.build_artifact import Artifact
from local.lambda_runtime.forking import RUNTIME_CLIENT, ForkedProcess, ForkServer
from local.lambda_runtime.invocation import Invocation, InvocationFailedError
from local.lambda_runtime.runtime_api import RuntimeApi
from local.services.processes import Processes, kill

# Lambda's limit is ten seconds, but a small machine may start many workers at once.
INIT_SECONDS = 120.0
INIT_TIMEOUT = "Runtime.InitTimeout"


@dataclass(frozen=True)
class WorkerSpec:
    """The configuration that the workers of one function share; with an artifact, they run the built function.

    `forks` is the server that forks their processes, None where they are started one by one.
    """

    function: str
    handler: str
    environment: Mapping[str, str]
    directory: Path
    log: Path
    artifact: Artifact | None = None
    module: str = RUNTIME_CLIENT
    forks: ForkServer | None = None


class Worker:
    """A started worker process."""

    def __init__(self, spec: WorkerSpec, processes: Processes) -> None:
        self._spec = spec
        self._lock = threading.Lock()
        self._current: Invocation | None = None
        self._broken: InvocationFailedError | None = None
        self._process = self._start(processes)
        self._watcher = threading.Thread(target=self._watch, daemon=True, name=f"watch-{self.pid}")
        self._watcher.start()

    @property
    def pid(self) -> int:
        """Return the id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Return whether it can handle another invocation."""
        return self._broken is None

    @property
    def is_busy(self) -> bool:
        """Return whether it is handling an invocation."""
        return self._current is not None

    def run(self, invocation: Invocation) -> bytes:
        """Handle one invocation and return the response; raise InvocationFailedError if it fails."""
        with self._lock:
            if self._broken:
                raise self._broken
            self._current = invocation
        try:
            return self._handle(invocation)
        finally:
            self._current = None

    def close(self) -> None:
        """Kill the process and wait until it has ended."""
        self._kill()
        self._watcher.join()
        self._release()

    def _start(self, processes: Processes) -> subprocess.Popen[bytes] | ForkedProcess:
        spec, self._api = self._spec, RuntimeApi(self._on_error)
        environment = dict(spec.environment) | {"AWS_LAMBDA_RUNTIME_API": self._api.address}
        if spec.forks is None:
            command = [sys.executable, "-m", spec.module, spec.handler]
            return processes.start(command, environment=environment, directory=spec.directory, log=spec.log)
        try:
            return spec.forks.start(spec.module, spec.handler, environment, spec.directory, spec.log)
        except ProcessFailedError as exc:
            self._api.close()
            raise self._build_failure("Runtime.ExitError", str(exc)) from exc

    def _handle(self, invocation: Invocation) -> bytes:
        self._api.offer(invocation)
        if not invocation.wait_until_fetched(INIT_SECONDS):
            raise self._give_up(INIT_TIMEOUT, f"the worker was not ready after {INIT_SECONDS:.0f} s")
        body = invocation.wait_for_result()
        if body is None:
            raise self._fail_by_timeout(invocation)
        return body

    def _kill(self) -> None:
        """Kill the process and all processes that it started, and wait until they have ended."""
        if isinstance(self._process, ForkedProcess):
            self._process.kill()
        else:
            kill(self._process)

    def _release(self) -> None:
        """Release the resources that outlive the process."""
        self._api.close()

    def _on_error(self, at_init: bool, error_type: str, message: str, stack_trace: Any) -> None:
        """Record an error that the runtime client reports; an init error makes the worker unusable."""
        failure = self._build_failure(error_type, message, stack_trace)
        if at_init:
            self._break(failure)
        elif self._current:
            self._current.fail(failure)

    def _watch(self) -> None:
        status = self._process.wait()
        reason = f"signal: {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        self._break(self._build_failure("Runtime.ExitError", f"Runtime exited with error: {reason}"))

    def _fail_by_timeout(self, invocation: Invocation) -> InvocationFailedError:
        message = f"{invocation.request_id} Task timed out after {invocation.timeout:.2f} seconds"
        return self._give_up("Sandbox.Timedout", message)

    def _give_up(self, error_type: str, message: str) -> InvocationFailedError:
        """Kill the process, so that no further invocation reaches it, and return the failure."""
        failure = self._build_failure(error_type, message)
        self._break(failure)
        self._kill()
        return failure

    def _break(self, failure: InvocationFailedError) -> None:
        with self._lock:
            self._broken = self._broken or failure
            if self._current:
                self._current.fail(self._broken)

    def _build_failure(self, error_type: str, message: str, stack_trace: Any = None) -> InvocationFailedError:
        return InvocationFailedError(self._spec.function, error_type, message, self._spec.log, stack_trace)
