"""Do something at each step of the application in this process: at a statement, before a COMMIT, or after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.orm import Session

from shell.db import session as session_module
from shell.tenants.first_use import forget_tenants
from tests.support.application.driver import World

Step = Callable[[int], object]


class KilledError(BaseException):
    """What ends a worker in the middle."""


class Steps:
    """The number of steps so far, of which each statement and each COMMIT is one, and the numbers of the COMMITs."""

    def __init__(self, before: Step, after: Step) -> None:
        self.count = 0
        self.commits: list[int] = []
        self._before, self._after, self._busy = before, after, False

    def begin(self, *_: Any) -> None:
        """Count a step and call `before`."""
        if not self._busy:
            self.count += 1
            self._call(self._before)

    def commit(self, commit: Callable[[Session], None], opened: Session) -> None:
        """Count a COMMIT, call `before`, commit, and call `after`."""
        self.begin()
        commit(opened)
        if not self._busy:
            self.commits.append(self.count)
            self._call(self._after)

    def _call(self, step: Step) -> None:
        """What is done at a step has no steps of its own."""
        self._busy = True
        try:
            step(self.count)
        finally:
            self._busy = False


def nothing(_number: int) -> None:
    """Let it go on."""


@contextmanager
def at_every_step(world: World, before: Step = nothing, after: Step = nothing) -> Iterator[Steps]:
    """Call `before` with the number of each statement and COMMIT, and `after` with that of each COMMIT."""
    steps, commit = Steps(before, after), session_module._commit
    # A connection that the pool replaces for its age has statements more, and so has a tenant that is read again for
    # its age: all steps are those of a new connection and of a process that knows no tenant.
    world.engine.dispose()
    forget_tenants()
    event.listen(world.engine, "before_cursor_execute", steps.begin)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session_module, "_commit", partial(steps.commit, commit))
            yield steps
    finally:
        event.remove(world.engine, "before_cursor_execute", steps.begin)


def at(number: int, work: Callable[[], object]) -> Step:
    """Do it at that step."""
    return lambda reached: work() if reached == number else None


def kill() -> None:
    """End the worker."""
    raise KilledError
