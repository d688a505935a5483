"""Executions of productions whose processes are killed: the function runs in a process, its checkpoints are outside.

Guaranteed: SIGKILL comes exactly where requested, before or after the checkpoint that carries the n-th update or at
a named point of a step, once; the engine, which is AWS's testing package, then invokes the function anew. Updates are
counted, because how many of them a checkpoint carries depends on how busy the machine is.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any

from aws_durable_execution_sdk_python.execution import (
    DurableExecutionInvocationInput,
    DurableExecutionInvocationInputWithClient,
)

from shell.productions import documents
from tests.support.application.driver import Context
from tests.support.application.handler_processes import PATIENCE_S
from tests.support.productions.runs import cancel, execute
from tests.support.productions.saga_faults import PART_SIZE, Fault, Faulty, Hook, Point, around, both, handler_of

_FORKS = multiprocessing.get_context("forkserver")
# Whichever module is imported last says what the server of processes has ready; this says what the others do as well.
_API = ["imports_api", "import_checks_api", "exhibits_api", "custodians_api", "custody_api", "productions_api"]
_FORKS.set_forkserver_preload([__name__, "tests.support.application.handler_processes", *_API])


@dataclass(frozen=True)
class Kill:
    """SIGKILL at the checkpoint with the n-th update, from 1, or at a point of a step; never if `at` is None."""

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

    def __init__(self, connection: Connection, kill: Kill, updates: int) -> None:
        self._connection, self._kill, self._count = connection, kill, updates
        self._lock = threading.Lock()

    def checkpoint(self, *, updates: Sequence[Any], **named: Any) -> Any:
        """Keep updates."""
        with self._lock:
            carried = range(self._count + 1, self._count + len(updates) + 1)
            self._count += len(updates)
            if self._kill.at in carried and not self._kill.after:
                die()
            answer = self._requested("checkpoint", updates=updates, **named)
            if self._kill.at in carried:
                die()
            return answer

    def get_execution_state(self, **named: Any) -> Any:
        """What was kept."""
        with self._lock:
            return self._requested("get_execution_state", **named)

    def _requested(self, what: str, **named: Any) -> Any:
        self._connection.send((what, named))
        answer = self._connection.recv()
        if isinstance(answer, Exception):
            raise answer
        return answer


def _serve(connection: Connection, environment: Mapping[str, str], *task: Any) -> None:
    """The function's process: one invocation."""
    os.environ.update(environment)
    documents.PART_SIZE = PART_SIZE
    given, run, updates = task
    client: Any = Asking(connection, run.kill, updates)
    event = DurableExecutionInvocationInputWithClient.from_durable_execution_invocation_input(given, client)
    connection.send(("done", handler_of(around(run.hook()))(event, Context())))


class KilledError(Exception):
    """The function's process is gone."""


@dataclass
class Function:
    """The function as the engine invokes it; `updates` is how many all its processes have sent."""

    environment: Mapping[str, str]
    run: Run
    updates: int = 0
    killed: bool = False

    def __call__(self, event: DurableExecutionInvocationInputWithClient, _context: Any) -> Any:
        """Invoke it in a process of its own; raises KilledError if that is killed, which happens once."""
        plain = {name: getattr(event, name) for name in DurableExecutionInvocationInput.__dataclass_fields__}
        ours, theirs = _FORKS.Pipe()
        task = (DurableExecutionInvocationInput(**plain), self.run, self.updates)
        process = _FORKS.Process(target=_serve, args=(theirs, dict(self.environment), *task), daemon=True)
        process.start()
        theirs.close()
        try:
            return self._answers(ours, event.service_client)
        except (EOFError, OSError):
            process.join(PATIENCE_S)
            assert process.exitcode == -signal.SIGKILL
            self.run, self.killed = replace(self.run, kill=Kill()), True
            raise KilledError from None
        finally:
            process.join(PATIENCE_S)
            ours.close()

    def _answers(self, connection: Connection, client: Any) -> Any:
        """Answer what the process asks of the service until it is done; what it gives back."""
        while True:
            what, given = connection.recv()
            if what == "done":
                return given
            self.updates += len(given.get("updates", ()))
            connection.send(_answer(client, what, given))


def _answer(client: Any, what: str, given: Mapping[str, Any]) -> Any:
    try:
        return getattr(client, what)(**given)
    except Exception as error:
        return error


def execute_in_processes(environment: Mapping[str, str], run: Run) -> tuple[dict[str, Any], Function]:
    """Run an execution to its end, without its waits; what it gives back, and the function that was invoked."""
    function = Function(environment, run)
    result = execute(run.production, function, retry_seconds=0)
    return result, function
