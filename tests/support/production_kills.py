"""Executions of productions whose processes are killed: the function runs in a process, its checkpoints are outside.

Guaranteed: SIGKILL comes exactly where it is asked for, before or after the n-th call to the checkpoints' service or at
a named point of a step, once; the engine, which is AWS's testing package, then invokes the function anew.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from aws_durable_execution_sdk_python.execution import (
    DurableExecutionInvocationInput,
    DurableExecutionInvocationInputWithClient,
)
from aws_durable_execution_sdk_python_testing import DurableFunctionTestRunner

from shell.aws import clients
from shell.db.session import engine
from shell.productions import documents
from tests.support.production_faults import PART_SIZE, Fault, Faulty, Hook, Point, around, both, handler_of
from tests.support.productions import cancel
from tests.support.workers import PATIENCE_S
from tests.support.world import Context

_FORKS = multiprocessing.get_context("forkserver")
# Whichever module is imported last says what the server of processes has ready; this says what the others do as well.
_API = ["imports_api", "exhibits_api", "custodians_api", "custody_api", "productions_api"]
_FORKS.set_forkserver_preload([__name__, "tests.support.workers", *_API])


@dataclass(frozen=True)
class Kill:
    """SIGKILL at the n-th call to the checkpoints' service, from 1, or at a point of a step; never if `at` is None."""

    at: int | Point | None = None
    after: bool = False


@dataclass(frozen=True)
class Run:
    """What happens in a run: faults, a cancellation at a point, and a kill."""

    production: int
    faults: tuple[Fault, ...] = ()
    cancelled: Point | None = None
    kill: Kill = field(default_factory=Kill)

    def hook(self) -> Hook:
        """What happens at the steps' points."""
        return both(both(self._killing, self._cancelling), Faulty(self.faults))

    def _killing(self, point: Point) -> None:
        if point == self.kill.at:
            die()

    def _cancelling(self, point: Point) -> None:
        if point == self.cancelled:
            cancel(self.production)


def die() -> None:
    """End this process as the kernel does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


class Asking:
    """The checkpoints' service as the function's process sees it; kills that process where `kill` says."""

    def __init__(self, connection: Connection, kill: Kill, served: int) -> None:
        self._connection, self._kill, self._count = connection, kill, served
        self._lock = threading.Lock()

    def checkpoint(self, *given: Any, **named: Any) -> Any:
        """Keep updates."""
        with self._lock:
            self._count += 1
            if self._kill == Kill(self._count):
                die()
            answer = self._asked("checkpoint", given, named)
            if self._kill == Kill(self._count, after=True):
                die()
            return answer

    def get_execution_state(self, *given: Any, **named: Any) -> Any:
        """What was kept."""
        with self._lock:
            return self._asked("get_execution_state", given, named)

    def _asked(self, *question: Any) -> Any:
        self._connection.send(question)
        answer = self._connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer


def _serve(connection: Connection, environment: Mapping[str, str]) -> None:
    """The function's process: invocations one by one."""
    os.environ.update(environment)
    documents.PART_SIZE = PART_SIZE
    with engine().connect():
        clients.s3()
    connection.send(("ready",))
    while (task := connection.recv()) is not None:
        given, run, served = task
        client: Any = Asking(connection, run.kill, served)
        event = DurableExecutionInvocationInputWithClient.from_durable_execution_invocation_input(given, client)
        connection.send(("done", handler_of(around(run.hook()))(event, Context())))


class KilledError(Exception):
    """The function's process is gone."""


class Environments:
    """Processes for the function, as Lambda has them: used again until one dies."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._current: tuple[ForkServerProcess, Connection] | None = None
        self.kills = 0

    def invoke(self, given: DurableExecutionInvocationInput, run: Run, served: int, client: Any) -> tuple[Any, int]:
        """Invoke the function once; its answer, or KilledError, and how often the service was called until then."""
        process, connection = self._current = self._current or self._start()
        try:
            connection.send((given, run, served))
            while True:
                what, *question = connection.recv()
                if what == "done":
                    return question[0], served
                served += what == "checkpoint"
                connection.send(_answer(client, what, *question))
        except (EOFError, OSError):
            process.join(PATIENCE_S)
            assert process.exitcode == -signal.SIGKILL
            self._current, self.kills = None, self.kills + 1
            return KilledError(), served

    def stop(self) -> None:
        """End the process that is there."""
        if self._current:
            process, connection = self._current
            connection.send(None)
            process.join(PATIENCE_S)
            connection.close()

    def _start(self) -> tuple[ForkServerProcess, Connection]:
        ours, theirs = _FORKS.Pipe()
        process = _FORKS.Process(target=_serve, args=(theirs, self._environment), daemon=True)
        process.start()
        theirs.close()
        assert ours.recv() == ("ready",)
        return process, ours


def _answer(client: Any, what: str, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    try:
        return getattr(client, what)(*given, **named)
    except Exception as error:
        return error


@contextmanager
def environments(environment: Mapping[str, str]) -> Iterator[Environments]:
    """Environments that live as long as the block."""
    made = Environments(environment)
    try:
        yield made
    finally:
        made.stop()


@dataclass(frozen=True)
class Outcome:
    """What the execution gave back, how often the service was called, and whether a process was killed."""

    result: dict[str, Any]
    served: int
    killed: bool


def execute_in(at: Environments, run: Run) -> Outcome:
    """Run an execution to its end, in processes, without its waits."""
    served, kills = 0, at.kills

    def forwarded(event: DurableExecutionInvocationInputWithClient, _context: Any) -> Any:
        nonlocal served
        plain = {name: getattr(event, name) for name in DurableExecutionInvocationInput.__dataclass_fields__}
        wanted = run if at.kills == kills else Run(run.production, run.faults, run.cancelled)
        given = DurableExecutionInvocationInput(**plain)
        answer, served = at.invoke(given, wanted, served, event.service_client)
        if isinstance(answer, Exception):
            raise answer
        return answer

    with DurableFunctionTestRunner(handler=forwarded) as runner:
        runner._executor.RETRY_BACKOFF_SECONDS = 0
        result = runner.run(input=json.dumps({"productionId": run.production, "generation": 1}), execution_timeout=60)
    runner._scheduler._loop.close()
    assert result.status.value == "SUCCEEDED", result.error
    return Outcome(dict(json.loads(str(result.result))), served, at.kills > kills)
