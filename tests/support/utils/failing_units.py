"""Units that fail with the errors of a database, how they are retried, and a clock that only their pauses move."""

from __future__ import annotations

from typing import NamedTuple

import pymysql
from sqlalchemy.exc import OperationalError
from tenacity import Retrying

from core.errors import TransactionConflictError
from shell.db.retry import build_retrying


class Left(NamedTuple):
    """A Lambda context with so much time left."""

    milliseconds: int

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds."""
        return self.milliseconds


class Clock:
    """Stands in for the module `time`: it stands still except for pauses, which it records."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def monotonic(self) -> float:
        """Return the seconds that have passed."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let the seconds pass."""
        self.pauses.append(seconds)
        self.now += seconds


def error_of(number: int) -> OperationalError:
    return OperationalError("UPDATE", {}, pymysql.err.OperationalError(number, "--read-only, as a test says"))


class Failing:
    """A unit that fails so many times; knows how often it was tried."""

    def __init__(self, error: Exception, times: int = 1000) -> None:
        self._error = error
        self._times = times
        self.tried = 0
        self.__qualname__ = "unit"

    def __call__(self) -> str:
        """Fail, or do it."""
        self.tried += 1
        if self.tried <= self._times:
            raise self._error
        return "done"


def ours(attempts: int, delay: float) -> Retrying:
    """The application's loop around a unit, with so many attempts and that first pause."""
    return build_retrying(attempts, delay, lambda _last, _tried: TransactionConflictError())
