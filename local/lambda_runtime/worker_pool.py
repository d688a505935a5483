"""Invoke the template's functions in worker processes, as Lambda does.

A function has at most the given number of workers. They start when they are needed and are reused. A worker that ends
before it has fetched an invocation is replaced at once, a few times, as nothing has been done yet. A worker that
exceeds the function's timeout is killed, and one that died is replaced at the next invocation. The output of the
workers goes to one log file per function. Workers that run from source under AWS's runtime client are forked.
Event sources and the HTTP API both call `Runtime.invoke`.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from local.lambda_runtime.build_artifact import Artifact
from local.lambda_runtime.forking import FORK_LOG, RUNTIME_CLIENT, ForkServer
from local.lambda_runtime.invocation import STARTS, FunctionStartError, Invocation, InvocationFailedError
from local.lambda_runtime.rie_worker import EmulatedWorker
from local.lambda_runtime.worker import INIT_TIMEOUT, Worker, WorkerSpec
from local.services.processes import Processes, build_child_environment
from local.template.model import Function
from local.template.reader import Template
from local.time_scale import TimeScale


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
        """Wait for an idle worker, let it handle the invocation, and return its response.

        Raises FunctionStartError if no worker starts, and InvocationFailedError.
        """
        with self._slots:
            for _ in range(STARTS):
                try:
                    return self._run_once(invocation)
                except InvocationFailedError as exc:
                    if invocation.was_fetched or self._closed or exc.error_type == INIT_TIMEOUT:
                        raise
                    failure, invocation = exc, invocation.renew()
            raise FunctionStartError(failure)

    def prepare(self) -> None:
        """Start a worker, which then waits for its first invocation, if a slot is free and none has started yet."""
        if not self._workers and self._slots.acquire(blocking=False):
            try:
                self._release(self._acquire())
            finally:
                self._slots.release()

    def pids(self, *, busy: bool) -> list[int]:
        """Return the process ids of all live workers, or of the busy ones only."""
        with self._lock:
            return [worker.pid for worker in self._workers if worker.is_alive and (worker.is_busy or not busy)]

    def close(self) -> None:
        """Kill all workers; invocations in progress fail."""
        with self._lock:
            self._closed = True
            workers, self._workers, self._idle = list(self._workers), set(), []
        for worker in workers:
            worker.close()

    def _run_once(self, invocation: Invocation) -> bytes:
        worker = self._acquire()
        try:
            return worker.run(invocation)
        finally:
            self._release(worker)

    def _acquire(self) -> Worker:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.is_alive:
                    return worker
                self._workers.discard(worker)
                worker.close()
            if self._closed:
                raise InvocationFailedError(self._spec.function, "Stopped", "the stack is stopping", self._spec.log)
            worker_class = EmulatedWorker if self._spec.artifact else Worker
            worker = worker_class(self._spec, self._processes)
            self._workers.add(worker)
            return worker

    def _release(self, worker: Worker) -> None:
        with self._lock:
            if self._closed:
                return
            if worker.is_alive:
                self._idle.append(worker)
                return
            self._workers.discard(worker)
        worker.close()


class Runtime:
    """The worker pools of one template's functions; with an artifact, they run the built functions."""

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
        forks: ForkServer | None = None,
    ) -> None:
        self._forks = forks or ForkServer(processes, log_directory / FORK_LOG)
        self._forks.configure(template)
        self._template = template
        self._time_scale = time_scale
        self._log_directory = log_directory
        self._artifact = artifact
        self._module = module
        self._pools = {
            function.name: _Pool(self._build_spec(function, environment(function.name)), workers, processes)
            for function in template.functions.values()
        }

    def invoke(self, function: str, payload: object) -> Any:
        """Return the function's result for a payload, both as JSON values; raise InvocationFailedError if it fails."""
        invocation = Invocation(
            payload=json.dumps(payload).encode(),
            arn=self._template.function_arn(function),
            timeout=self._scale_timeout(self._template.functions[function]),
        )
        return json.loads(self._pools[function].run(invocation))

    def prepare(self, functions: Iterable[str]) -> None:
        """Begin to start a worker of each function, in this order, so that no first invocation waits for its start.

        One that cannot start is reported by its first invocation.
        """

        def start() -> None:
            with suppress(InvocationFailedError):
                for function in functions:
                    self._pools[function].prepare()

        threading.Thread(target=start, daemon=True, name="prepare-workers").start()

    def pids(self, function: str) -> list[int]:
        """Return the process ids of a function's workers."""
        return self._pools[function].pids(busy=False)

    def busy_pids(self, function: str) -> list[int]:
        """Return the process ids of a function's workers that are handling an invocation."""
        return self._pools[function].pids(busy=True)

    def stop(self) -> None:
        """Kill all workers."""
        # First, because a start that waits for the fork server holds its pool's lock.
        self._forks.stop()
        for pool in self._pools.values():
            pool.close()

    def _scale_timeout(self, function: Function) -> float:
        return self._time_scale.scale_timeout(function.timeout)

    def _build_spec(self, function: Function, environment: Mapping[str, str]) -> WorkerSpec:
        artifact, roots = self._artifact, self._template.import_roots
        variables = {"PYTHONPATH": os.pathsep.join(str(root) for root in roots)}
        if artifact:
            variables = artifact.environment(function.name, self._scale_timeout(function))
        every = build_child_environment() | function_variables(function) | variables | dict(environment)
        can_fork = not artifact and self._module == RUNTIME_CLIENT and self._forks.can_start(every)
        return WorkerSpec(
            function=function.name,
            handler=function.handler,
            environment=every,
            directory=artifact.code(function.name) if artifact else roots[0],
            log=self._log_directory / f"{function.name}.log",
            artifact=artifact,
            module=self._module,
            forks=self._forks if can_fork else None,
        )


def function_variables(function: Function) -> dict[str, str]:
    """Return the variables that Lambda sets for every function."""
    return {
        "AWS_LAMBDA_FUNCTION_NAME": function.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": "local",
        "TZ": "UTC",
    }
