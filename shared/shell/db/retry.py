"""Replaying a whole transaction when the database asks for that.

Guaranteed: the unit of retry is the whole transaction, replayed by the outermost `retry_on_db_conflict` alone, with
full jitter from the first attempt and never past the invocation's deadline; a database that has no writer for a while,
as in a failover, is waited for; an unknown COMMIT is never replayed blindly.
Not guaranteed: anything about effects outside the database. What a unit does besides SQL is repeated with it.
"""

from __future__ import annotations

import functools
import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, cast, overload

from sqlalchemy.orm import Session
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_random_exponential

from core.errors import (
    CommitOutcomeUnknownError,
    ConflictError,
    DatabaseUnavailableError,
    ExhibitIngestError,
    TransactionConflictError,
)
from shell.invocation import seconds_left
from shell.observability import count_now, logger
from shell.settings import settings
from shell.utils.db_errors import DEADLOCK, RETRYABLE, DbErrorClass, classify, error_number, server_is_away

P = ParamSpec("P")
R = TypeVar("R")

MAX_DELAY_S = 5.0
# A stale version means that somebody else changed the very row: soon again, and not for long.
STALE_ATTEMPTS, STALE_DELAY_S, STALE_MAX_DELAY_S = 3, 0.1, 1.0
# In units of the first pause, by default 0.2 s: a failover takes half a minute, and whoever finds the new writer late
# has waited for nothing.
AWAY_PATIENCE, AWAY_MAX_DELAY = 300, 10
_replaying: ContextVar[bool] = ContextVar("replaying", default=False)
_attempt: ContextVar[int] = ContextVar("attempt", default=1)


@overload
def retry_on_db_conflict(unit: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def retry_on_db_conflict(*, resolve: Callable[..., Any] | None = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def retry_on_db_conflict(unit: Any = None, /, *, resolve: Any = None) -> Any:
    """Replay a function that opens, fills and commits its own transaction when the database asks for that.

    The function must take plain values and read everything anew. Inside another replayed unit, or when it is handed
    a session that is in a transaction already, it runs once: then the outermost unit replays.
    `resolve`, called with the same arguments by place, answers after an unknown COMMIT: the unit's result if it took
    effect (found by a locking read of something the transaction wrote), None if it did not; without it the error is
    raised.
    A ConflictError that the function raises is replayed likewise, unless it is not `replayable`. A StaleDataError of a
    versioned row is replayed up to three attempts in all, 0.1 s doubling to at most 1 s apart, with jitter.
    While there is no server to write to, attempts are not counted: for 300 times DB_DEADLOCK_RETRY_DELAY, by default a
    minute, or as long as the invocation lasts, a new connection is tried, at most 10 times the delay apart.
    Raises TransactionConflictError or DatabaseUnavailableError after the last of DB_DEADLOCK_RETRY_ATTEMPTS.
    """
    if unit is None:
        return functools.partial(_decorate, resolve=resolve)
    return _decorate(unit, resolve=resolve)


def _decorate(unit: Callable[P, R], *, resolve: Callable[..., R | None] | None) -> Callable[P, R]:
    @functools.wraps(unit)
    def replayed(*args: P.args, **kwargs: P.kwargs) -> R:
        given = (*args, *kwargs.values())
        if _replaying.get() or _joins_a_transaction(given):
            return unit(*args, **kwargs)
        token, counter = _replaying.set(True), _attempt.set(0)
        try:
            return _replay(
                functools.partial(_leaving_no_transaction, given, functools.partial(unit, *args, **kwargs)),
                functools.partial(_resolve_as_called, resolve, unit, args, kwargs) if resolve else None,
                unit.__qualname__,
            )
        finally:
            _replaying.reset(token)
            _attempt.reset(counter)

    return replayed


def is_replayed(session: Session) -> bool:
    """Whether what is done in the session is part of a unit that others end and replay."""
    return _replaying.get() or session.in_transaction()


def attempt_number() -> int:
    """Which attempt of the replayed unit this is, from 1: for one that goes another way once it has failed."""
    return _attempt.get()


def _joins_a_transaction(args: Sequence[Any]) -> bool:
    return any(isinstance(argument, Session) and argument.in_transaction() for argument in args)


def _leaving_no_transaction(args: Sequence[Any], unit: Callable[[], R]) -> R:
    """A session that came without a transaction is rolled back before the unit is tried again on it."""
    try:
        return unit()
    except BaseException:
        for argument in args:
            if isinstance(argument, Session):
                argument.rollback()
        raise


def _replay(unit: Callable[[], R], resolve: Callable[[], R | None] | None, name: str) -> R:
    attempts = max(1, settings().deadlock_retry_attempts)
    replay = retrying(attempts, settings().deadlock_retry_delay, lambda last, tried: _gave_up(name, last, tried))
    return cast(R, replay(_settling_commits, unit, resolve))


def retrying(attempts: int, delay: float, gave_up: Callable[[BaseException, int], Exception]) -> Retrying:
    """Tenacity's loop: retryable database errors, full jitter, attempts, patience and deadline."""
    spent = _Spent()
    usual = wait_random_exponential(multiplier=delay, max=MAX_DELAY_S)
    stale = wait_random_exponential(multiplier=STALE_DELAY_S, max=STALE_MAX_DELAY_S)
    away = wait_random_exponential(multiplier=delay, max=delay * AWAY_MAX_DELAY)

    def wait(state: RetryCallState) -> float:
        error = _error_of(state)
        if server_is_away(error):
            return away(state)
        return (stale if classify(error) is DbErrorClass.STALE else usual)(state)

    def stop(state: RetryCallState) -> bool:
        error = _error_of(state)
        if seconds_left() <= state.upcoming_sleep + spent.longest_s:
            return True
        if server_is_away(error):
            return state.attempt_number >= attempts and spent.away_s() + state.upcoming_sleep > delay * AWAY_PATIENCE
        fewer = {DbErrorClass.ONCE: 2, DbErrorClass.STALE: STALE_ATTEMPTS}
        return spent.attempts >= min(attempts, fewer.get(classify(error), attempts))

    def after_last(state: RetryCallState) -> Any:
        last = _error_of(state)
        final = gave_up(last, state.attempt_number)
        raise final from (None if final is last else last)

    return Retrying(
        retry=retry_if_exception(_worth_replaying),
        before=spent.begin,
        after=spent.end,
        wait=wait,
        stop=stop,
        before_sleep=_log_replay,
        retry_error_callback=after_last,
    )


class _Spent:
    """What the attempts of one unit have used up."""

    def __init__(self) -> None:
        # Those that found a server.
        self.attempts = 0
        # Another attempt may take as long as the longest before it: one that waits for a lock, the whole lock wait.
        self.longest_s = 0.0
        self._began = time.monotonic()
        self._away_since: float | None = None

    def begin(self, _state: RetryCallState) -> None:
        self._began = time.monotonic()

    def end(self, state: RetryCallState) -> None:
        self.longest_s = max(self.longest_s, time.monotonic() - self._began)
        if not server_is_away(_error_of(state)):
            self.attempts += 1
        elif self._away_since is None:
            self._away_since = self._began

    def away_s(self) -> float:
        """Since a server was missed for the first time."""
        return 0.0 if self._away_since is None else time.monotonic() - self._away_since


def _settling_commits(unit: Callable[[], R], resolve: Callable[[], R | None] | None) -> R:
    _attempt.set(_attempt.get() + 1)
    try:
        return unit()
    except CommitOutcomeUnknownError as unknown:
        if resolve is None:
            raise
        settled = _resolve(resolve, unknown)
        if settled is not None:
            return settled
        raise _DidNotCommitError() from unknown


def _resolve(resolve: Callable[[], R | None], unknown: CommitOutcomeUnknownError) -> R | None:
    """Ask what became of the COMMIT, as often as it takes: the answer is read, so asking again is harmless."""

    def still_unknown(last: BaseException, tried: int) -> Exception:
        logger.error("commit outcome not resolved", extra={"tried": tried, "number": error_number(last)})
        return unknown

    def worth_asking_again(error: BaseException) -> bool:
        return _worth_replaying(error) or classify(error) is DbErrorClass.UNKNOWN_COMMIT

    ours = settings()
    asking = retrying(max(1, ours.deadlock_retry_attempts), ours.deadlock_retry_delay, still_unknown)
    return asking.copy(retry=retry_if_exception(worth_asking_again))(resolve)


def _resolve_as_called(
    resolve: Callable[..., R | None], unit: Callable[..., R], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> R | None:
    """With the unit's arguments by place: what the unit calls its parameters is not what `resolve` does."""
    called = inspect.signature(unit).bind(*args, **kwargs)
    return resolve(*called.args, **called.kwargs)


def repeating_is_harmless(*_arguments: object, **_named: object) -> Any:
    """A `resolve` for units that have the same effect once or twice: after an unknown COMMIT, run them again."""
    return None


class _DidNotCommitError(ExhibitIngestError):
    """The COMMIT of unknown outcome did not take effect."""


def _worth_replaying(error: BaseException) -> bool:
    if isinstance(error, ConflictError):
        return error.replayable
    return isinstance(error, _DidNotCommitError) or classify(error) in RETRYABLE


def _error_of(state: RetryCallState) -> BaseException:
    error = state.outcome.exception() if state.outcome else None
    return error or _DidNotCommitError()


def _gave_up(name: str, last: BaseException, tried: int) -> Exception:
    if isinstance(last, ConflictError):
        return last
    kind = classify(last)
    times = f"{name} failed in {tried} attempt{'s' if tried > 1 else ''}"
    if kind is DbErrorClass.STALE:
        return TransactionConflictError(f"{times}; each time somebody else had changed the row")
    if kind in (DbErrorClass.TRANSACTION, DbErrorClass.DUPLICATE):
        return TransactionConflictError(f"{times}; the last conflict was error {error_number(last)}")
    return DatabaseUnavailableError(f"{times}; the last error was {error_number(last)} ({kind.value})")


def _log_replay(state: RetryCallState) -> None:
    error = _error_of(state)
    logger.warning(
        "replaying a transaction",
        extra={"number": error_number(error), "reason": classify(error).value, "attempt": state.attempt_number},
    )
    count_now(TransactionsReplayed=1, Deadlocks=int(error_number(error) == DEADLOCK))
