"""The Lambda API and AWS's testing engine of a template's durable functions, started at once or by the first request.

Guaranteed: the address exists from the start. Without `at_once`, the first connection waits until the engine is
imported, which takes half a second that a command without durable executions does not spend.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from local.lambda_runtime.activity import Activity
from local.storage.index import Index
from local.template.reader import Template
from local.time_scale import TimeScale

if TYPE_CHECKING:
    from local.lambda_runtime.durable_engine import Invoke
    from local.lambda_runtime.durable_executions import DurableExecutions
    from local.lambda_runtime.lambda_api import LambdaApi


class DurableHost:
    """The durable executions of one template; call `serve`, and in the end `announce_stop` and then `stop`."""

    def __init__(self, template: Template, time_scale: TimeScale, log: Path, storage: Path) -> None:
        self._index = Index(storage)
        self._template = template
        self._time_scale = time_scale
        self._log = log
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._stopping, self._waker = socket.socketpair()
        self._thread: threading.Thread | None = None
        self._engine: tuple[DurableExecutions, LambdaApi] | None = None

    def serve(self, invoke: Invoke, activity: Activity, *, at_once: bool) -> None:
        """Start the engine, or wait for the first request unless executions have to go on.

        Invocations run through `invoke`, counted in `activity`.
        """
        if at_once or self._index.read("SELECT 1 FROM executions WHERE NOT is_complete LIMIT 1"):
            self._start_engine(invoke, activity)
            return
        self._thread = threading.Thread(target=self._wait, args=(invoke, activity), daemon=True, name="durable-host")
        self._thread.start()

    def get_statuses(self, function: str) -> dict[str, str]:
        """Return RUNNING, SUCCEEDED, FAILED, TIMED_OUT or STOPPED by the name of each execution of a function."""
        return self._engine[0].get_statuses(function) if self._engine else {}

    def list_running(self) -> list[str]:
        """Return the names of the executions that have not ended."""
        return self._engine[0].list_running() if self._engine else []

    def announce_stop(self) -> None:
        """Start no engine from now on; the one that runs accepts no more work."""
        self._waker.close()
        if self._thread:
            self._thread.join()
        if self._engine:
            self._engine[0].announce_stop()

    def stop(self) -> None:
        """End every execution and close the address; the workers must have stopped."""
        if self._engine:
            executions, api = self._engine
            executions.release()
            api.close()
            executions.stop()
        self._stopping.close()
        with contextlib.suppress(OSError):
            self._listener.close()
        self._index.close()

    def _wait(self, invoke: Invoke, activity: Activity) -> None:
        ready, _, _ = select.select([self._listener, self._stopping], [], [])
        if self._stopping not in ready:
            self._start_engine(invoke, activity)

    def _start_engine(self, invoke: Invoke, activity: Activity) -> None:
        from local.lambda_runtime.durable_executions import DurableExecutions
        from local.lambda_runtime.lambda_api import LambdaApi

        executions = DurableExecutions(invoke, activity, self._time_scale, self._log, self._index)
        self._engine = executions, LambdaApi(self._template, self._listener, executions)
