"""Executions of productions that end for good wherever a test says, without an engine: nothing of them is kept.

Points are those around the steps' own work and those around each checkpoint: after a checkpoint's work all of it is in
the database, and nothing in the journal.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from core.errors import SagaStepError
from core.saga import SagaStep
from shell.aws.durable_execution import Checkpoints, redact_error
from shell.productions.saga import STEPS, produce
from tests.support.database.counted_database import PATIENCE_S
from tests.support.productions.saga_faults import Hook, Point, around, both

Work = Callable[[], Mapping[str, Any]]


class EndedError(BaseException):
    """The execution is over: nothing that it has begun goes on."""


def end() -> None:
    """End the execution here, for good."""
    raise EndedError


class Passing(Checkpoints):
    """Checkpoints that keep nothing and try everything once; the hook is called before and after each."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook

    def run(self, name: str, work: Work) -> Mapping[str, Any]:
        """Do the work."""
        self._hook(Point(f"[{name}]"))
        try:
            result = work()
        except Exception as error:
            raise SagaStepError(name, str(redact_error(error))) from None
        self._hook(Point(f"[{name}]", after=True))
        return result


def passing_run(production_id: int, hook: Hook, steps: Sequence[SagaStep] = STEPS) -> dict[str, Any] | None:
    """Execute the production; None if the hook ended it."""
    event = {"productionId": production_id, "generation": 1}
    try:
        return produce(event, Passing(hook), around(hook, steps))
    except EndedError:
        return None


class Meanwhile:
    """At the n-th point of an execution, from 1, something else happens first; it is done once."""

    def __init__(self, at: int, happens: Callable[[], object]) -> None:
        self._at, self._happens = at, happens
        self.points: list[Point] = []

    def __call__(self, point: Point) -> None:
        """Count the point; do what is to happen there."""
        self.points.append(point)
        if len(self.points) == self._at:
            self._happens()


class Held:
    """An execution in a thread that is held at its n-th point, from 1, until it may go on."""

    def __init__(self, production_id: int, at: int, then: Hook) -> None:
        self._reached, self._released = threading.Event(), threading.Event()
        self._pool = ThreadPoolExecutor(1)
        self._run = self._pool.submit(passing_run, production_id, both(Meanwhile(at, self._hold), then))
        self._run.add_done_callback(lambda _run: self._reached.set())
        assert self._reached.wait(PATIENCE_S)

    def _hold(self) -> None:
        self._reached.set()
        assert self._released.wait(PATIENCE_S)

    def go_on(self) -> None:
        """Let it go on to its end."""
        self._released.set()
        self._run.result(PATIENCE_S)
        self._pool.shutdown()
