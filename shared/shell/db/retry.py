"""Retry whole transactions after conflicts, lost connections and failovers.

Guaranteed: the unit of retry is the whole transaction; only the outermost `retry_on_db_conflict` retries it, with full
jitter from the first attempt and never past the invocation's deadline; while the database has no writer, as during a
failover, the unit waits; after a COMMIT of unknown outcome it is retried only after the outcome is known.
Not guaranteed: anything about effects outside of the database. What a unit does besides SQL is repeated with it.
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
    DatabaseWakingError,
    ExhibitIngestError,
    TransactionConflictError,
)
from shell.db.errors import DEADLOCK, RETRYABLE, DbErrorClass, classify, error_number, is_server_unavailable
from shell.deadline import seconds_left
from shell.observability import emit_counts, logger
from shell.settings import settings

P = ParamSpec("P")
R = TypeVar("R")

MAX_DELAY_S = 5.0
# A stale version means that another transaction changed the row: retry soon, and few times.
STALE_ATTEMPTS, STALE_DELAY_S, STALE_MAX_DELAY_S = 3, 0.1, 1.0
# Multiples of the first delay, by default 0.2 s. A failover takes half a minute; a longer maximum delay would find the
# new writer late.
FAILOVER_PATIENCE, FAILOVER_MAX_DELAY = 300, 10
_in_unit: ContextVar[bool] = ContextVar("in_unit", default=False)
_attempt: ContextVar[int] = ContextVar("attempt", default=1)


@overload
def retry_on_db_conflict(unit: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def retry_on_db_conflict(*, resolve: Callable[..., Any] | None = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def retry_on_db_conflict(unit: Any = None, /, *, resolve: Any = None) -> Any:
    """Retry a function that opens, fills and commits its own transaction, after any retryable database error.

    The function takes values, not loaded rows, and reads everything it needs. Inside another retried unit, or when an
    argument is a session with an open transaction, it runs once and the outermost unit retries.
    After a COMMIT of unknown outcome, `resolve` is called with the function's arguments, all positional. It returns the
    unit's result if the transaction took effect (found by a locking read of something the transaction wrote), None if
    it did not. Without `resolve`, CommitOutcomeUnknownError is raised.
    A `retryable` ConflictError that the function raises is retried likewise. A StaleDataError of a versioned row is
    retried for at most three attempts, with jittered delays from 0.1 s doubling to 1 s.
    While there is no server to write to, attempts are not counted: new connections are tried for 300 times
    DB_DEADLOCK_RETRY_DELAY, by default a minute, or until the deadline, at most 10 times that delay apart.
    Raises TransactionConflictError or DatabaseUnavailableError after the last of DB_DEADLOCK_RETRY_ATTEMPTS, and
    DatabaseWakingError if there was no server to write to until then.
    """
    if unit is None:
        return functools.partial(_decorate, resolve=resolve)
    return _decorate(unit, resolve=resolve)


def _decorate(unit: Callable[P, R], *, resolve: Callable[..., R | None] | None) -> Callable[P, R]:
    @functools.wraps(unit)
    def retried(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments = (*args, *kwargs.values())
        if _in_unit.get() or _has_open_transaction(arguments):
            return unit(*args, **kwargs)
        token, counter = _in_unit.set(True), _attempt.set(0)
        try:
            return _retry(
                functools.partial(_roll_back_on_error, arguments, functools.partial(unit, *args, **kwargs)),
                functools.partial(_call_resolve, resolve, unit, args, kwargs) if resolve else None,
                unit.__qualname__,
            )
        finally:
            _in_unit.reset(token)
            _attempt.reset(counter)

    return retried


def is_retried_by_caller(session: Session) -> bool:
    """Return whether the session's work is part of a unit that a caller ends and retries."""
    return _in_unit.get() or session.in_transaction()


def attempt_number() -> int:
    """Return the number of the current attempt, from 1, for a unit that takes another path after a failure."""
    return _attempt.get()


def _has_open_transaction(args: Sequence[Any]) -> bool:
    return any(isinstance(argument, Session) and argument.in_transaction() for argument in args)


def _roll_back_on_error(args: Sequence[Any], unit: Callable[[], R]) -> R:
    """Run the unit; on an error roll back the sessions among its arguments before the next attempt uses them."""
    try:
        return unit()
    except BaseException:
        for argument in args:
            if isinstance(argument, Session):
                argument.rollback()
        raise


def _retry(unit: Callable[[], R], resolve: Callable[[], R | None] | None, name: str) -> R:
    attempts = max(1, settings().deadlock_retry_attempts)
    delay = settings().deadlock_retry_delay
    retry = build_retrying(attempts, delay, lambda last, tried: _build_final_error(name, last, tried))
    return cast(R, retry(_run_and_resolve, unit, resolve))


def build_retrying(attempts: int, delay: float, build_error: Callable[[BaseException, int], Exception]) -> Retrying:
    """Return Tenacity's loop for retryable database errors: full jitter, attempts, failover patience and deadline.

    `delay` is in seconds. After the last attempt it raises what `build_error` returns for the last error and the
    number of attempts.
    """
    used = _RetryUsage()
    usual = wait_random_exponential(multiplier=delay, max=MAX_DELAY_S)
    stale = wait_random_exponential(multiplier=STALE_DELAY_S, max=STALE_MAX_DELAY_S)
    failover = wait_random_exponential(multiplier=delay, max=delay * FAILOVER_MAX_DELAY)

    def wait(state: RetryCallState) -> float:
        error = _error_of(state)
        if is_server_unavailable(error):
            return failover(state)
        return (stale if classify(error) is DbErrorClass.STALE else usual)(state)

    def stop(state: RetryCallState) -> bool:
        error = _error_of(state)
        if seconds_left() <= state.upcoming_sleep + used.longest_s:
            return True
        if is_server_unavailable(error):
            return (
                state.attempt_number >= attempts
                and used.failover_s() + state.upcoming_sleep > delay * FAILOVER_PATIENCE
            )
        fewer = {DbErrorClass.ONCE: 2, DbErrorClass.STALE: STALE_ATTEMPTS}
        return used.attempts >= min(attempts, fewer.get(classify(error), attempts))

    def after_last(state: RetryCallState) -> Any:
        last = _error_of(state)
        final = build_error(last, state.attempt_number)
        raise final from (None if final is last else last)

    return Retrying(
        retry=retry_if_exception(_is_retryable),
        before=used.begin,
        after=used.end,
        wait=wait,
        stop=stop,
        before_sleep=_log_retry,
        retry_error_callback=after_last,
    )


class _RetryUsage:
    """The attempts and the time that one unit has used."""

    def __init__(self) -> None:
        # Attempts that reached a server.
        self.attempts = 0
        # The next attempt may take as long as the longest so far: one that waits for a lock takes the whole lock wait.
        self.longest_s = 0.0
        self._began = time.monotonic()
        self._failover_since: float | None = None

    def begin(self, _state: RetryCallState) -> None:
        self._began = time.monotonic()

    def end(self, state: RetryCallState) -> None:
        self.longest_s = max(self.longest_s, time.monotonic() - self._began)
        if not is_server_unavailable(_error_of(state)):
            self.attempts += 1
        elif self._failover_since is None:
            self._failover_since = self._began

    def failover_s(self) -> float:
        """Return the seconds since an attempt first found no server."""
        return 0.0 if self._failover_since is None else time.monotonic() - self._failover_since


def _run_and_resolve(unit: Callable[[], R], resolve: Callable[[], R | None] | None) -> R:
    _attempt.set(_attempt.get() + 1)
    try:
        return unit()
    except CommitOutcomeUnknownError as unknown:
        if resolve is None:
            raise
        result = _resolve(resolve, unknown)
        if result is not None:
            return result
        raise _DidNotCommitError() from unknown


def _resolve(resolve: Callable[[], R | None], unknown: CommitOutcomeUnknownError) -> R | None:
    """Call `resolve` with retries of its own: it only reads, so repeating it is harmless."""

    def build_error(last: BaseException, tried: int) -> Exception:
        logger.error("commit outcome not resolved", extra={"tried": tried, "number": error_number(last)})
        return unknown

    def is_retryable(error: BaseException) -> bool:
        return _is_retryable(error) or classify(error) is DbErrorClass.UNKNOWN_COMMIT

    attempts = max(1, settings().deadlock_retry_attempts)
    retry = build_retrying(attempts, settings().deadlock_retry_delay, build_error)
    return retry.copy(retry=retry_if_exception(is_retryable))(resolve)


def _call_resolve(
    resolve: Callable[..., R | None], unit: Callable[..., R], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> R | None:
    """Call `resolve` with the unit's arguments, all positional: its parameters may have other names."""
    bound = inspect.signature(unit).bind(*args, **kwargs)
    return resolve(*bound.args, **bound.kwargs)


def rerun_if_unknown(*_arguments: object, **_named: object) -> Any:
    """Return None, as the `resolve` of idempotent units: after a COMMIT of unknown outcome they are simply retried."""
    return None


class _DidNotCommitError(ExhibitIngestError):
    """The COMMIT of unknown outcome did not take effect."""


def _is_retryable(error: BaseException) -> bool:
    if isinstance(error, ConflictError):
        return error.retryable
    return isinstance(error, _DidNotCommitError) or classify(error) in RETRYABLE


def _error_of(state: RetryCallState) -> BaseException:
    error = state.outcome.exception() if state.outcome else None
    return error or _DidNotCommitError()


def _build_final_error(name: str, last: BaseException, tried: int) -> Exception:
    if isinstance(last, ConflictError):
        return last
    kind = classify(last)
    times = f"{name} failed in {tried} attempt{'s' if tried > 1 else ''}"
    if kind is DbErrorClass.STALE:
        return TransactionConflictError(f"{times}; each time another transaction had changed the row.")
    if kind in (DbErrorClass.TRANSACTION, DbErrorClass.DUPLICATE):
        return TransactionConflictError(f"{times}; the last conflict was error {error_number(last)}.")
    if is_server_unavailable(last):
        found = f"There was no server in {tried} attempts; the last error was {error_number(last)}."
        return DatabaseWakingError(f"{DatabaseWakingError.__doc__} {found}")
    return DatabaseUnavailableError(f"{times}; the last error was {error_number(last)} ({kind.value}).")


def _log_retry(state: RetryCallState) -> None:
    error = _error_of(state)
    logger.warning(
        "retrying a transaction",
        extra={"number": error_number(error), "reason": classify(error).value, "attempt": state.attempt_number},
    )
    emit_counts(TransactionsRetried=1, Deadlocks=int(error_number(error) == DEADLOCK))
