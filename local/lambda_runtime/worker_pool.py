"""Invokes the template's functions in worker processes, as Lambda does.

A function has at most the given number of workers; they start when they are needed and are used again. A worker that
takes longer than the function's time-out is killed, one that died is replaced at the next invocation. What the
workers print goes to one log file a function.
API Gateway is not here: whatever translates HTTP to events calls `invoke` as the pump does.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from local.artifact import Artifact
from local.emulator import EmulatedWorker
from local.invocation import Invocation, InvocationFailed
from local.processes import Processes, inherited_environment
from local.template import Template
from local.time_scale import TimeScale
from local.wiring import Function
from local.worker import RUNTIME_CLIENT, Worker, WorkerSpec

__all__ = ["InvocationFailed", "Runtime"]


class _Pool:
    """The workers of one function."""

    def __init__(self, spec: WorkerSpec, limit: int, processes: Processes) -> None:
        self._spec = spec
        self._processes = processes
        self._slots = threading.Semaphore(limit)
        self._lock = threading.Lock()
        self._workers: set[Worker] = set()
        self._idle: list[Worker] = []
        self._closed = False

    def run(self, invocation: Invocation) -> bytes:
        """Wait for a free worker and let it handle the invocation."""
        with self._slots:
            worker = self._take()
            try:
                return worker.run(invocation)
            finally:
                self._give_back(worker)

    def pids(self, *, busy: bool) -> list[int]:
        """The processes, all or those with an invocation now."""
        with self._lock:
            return [worker.pid for worker in self._workers if worker.alive and (worker.busy or not busy)]

    def close(self) -> None:
        """Kill all workers; invocations that are under way fail."""
        with self._lock:
            self._closed = True
            workers, self._workers, self._idle = list(self._workers), set(), []
        for worker in workers:
            worker.close()

    def _take(self) -> Worker:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.alive:
                    return worker
                self._workers.discard(worker)
                worker.close()
            if self._closed:
                raise InvocationFailed(self._spec.function, "Stopped", "the stack is going down", self._spec.log)
            kind = EmulatedWorker if self._spec.artifact else Worker
            worker = kind(self._spec, self._processes)
            self._workers.add(worker)
            return worker

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if self._closed:
                return
            if worker.alive:
                self._idle.append(worker)
                return
            self._workers.discard(worker)
        worker.close()


class Runtime:
    """The functions of one template; close it with `stop`. With an artifact they run from what was built."""

    def __init__(
        self,
        template: Template,
        *,
        environment: Callable[[str], Mapping[str, str]],
        workers: int,
        time_scale: TimeScale,
        processes: Processes,
        log_directory: Path,
        artifact: Artifact | None = None,
        module: str = RUNTIME_CLIENT,
    ) -> None:
        self._template = template
        self._time_scale = time_scale
        self._log_directory = log_directory
        self._artifact = artifact
        self._module = module
        self._pools = {
            function.name: _Pool(self._spec(function, environment(function.name)), workers, processes)
            for function in template.functions.values()
        }

    def invoke(self, function: str, payload: object) -> Any:
        """The function's result for a payload, both as JSON values; raises InvocationFailed."""
        invocation = Invocation(
            payload=json.dumps(payload).encode(),
            arn=self._template.function_arn(function),
            timeout=self._timeout(self._template.functions[function]),
        )
        return json.loads(self._pools[function].run(invocation))

    def pids(self, function: str) -> list[int]:
        """The processes of a function's workers."""
        return self._pools[function].pids(busy=False)

    def busy_pids(self, function: str) -> list[int]:
        """The processes that handle an invocation of the function now."""
        return self._pools[function].pids(busy=True)

    def stop(self) -> None:
        """Kill all workers."""
        for pool in self._pools.values():
            pool.close()

    def _timeout(self, function: Function) -> float:
        return self._time_scale.timeout(function.timeout)

    def _spec(self, function: Function, environment: Mapping[str, str]) -> WorkerSpec:
        artifact, roots = self._artifact, self._template.import_roots
        found = {"PYTHONPATH": os.pathsep.join(str(root) for root in roots)}
        if artifact:
            found = artifact.environment(function.name, self._timeout(function))
        return WorkerSpec(
            function=function.name,
            handler=function.handler,
            environment=inherited_environment() | _variables(function) | found | dict(environment),
            directory=artifact.code(function.name) if artifact else roots[0],
            log=self._log_directory / f"{function.name}.log",
            artifact=artifact,
            module=self._module,
        )


def _variables(function: Function) -> dict[str, str]:
    """What Lambda tells every function of itself."""
    return {
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": "local",
        "TZ": "UTC",
    }
