"""Replaying transactions, locking rows in order, inserting or finding a row.

Guaranteed: the unit of retry is the whole transaction, replayed by the outermost `retry_on_db_conflict` alone, with
full jitter from the first attempt and never past the invocation's deadline; no helper ends a transaction that it did
not begin; an unknown COMMIT is never replayed blindly.
Not guaranteed: anything about effects outside the database. What a unit does besides SQL is repeated with it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar, cast, overload

from sqlalchemy import ColumnElement, inspect, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, QueryableAttribute, Session
from tenacity import RetryCallState, Retrying, retry_if_exception, wait_random_exponential

from core.errors import (
    CommitOutcomeUnknownError,
    ConflictError,
    DatabaseUnavailableError,
    ExhibitIngestError,
    LockNotAcquiredError,
    TransactionConflictError,
)
from shell.invocation import seconds_left
from shell.observability import logger
from shell.settings import settings
from shell.utils.db_errors import RETRYABLE, DbErrorClass, classify, duplicate_key, error_number

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M", bound=DeclarativeBase)

MAX_DELAY_S = 5.0
# A stale version means that somebody else changed the very row: soon again, and not for long.
STALE_ATTEMPTS, STALE_DELAY_S, STALE_MAX_DELAY_S = 3, 0.1, 1.0
INSERT_OR_GET_ROUNDS = 5
# From a thousand values on MariaDB makes a join of its own out of an IN list, and locks in the order of that.
VALUES_A_LIST = 500
_replaying: ContextVar[bool] = ContextVar("replaying", default=False)


@overload
def retry_on_db_conflict(unit: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def retry_on_db_conflict(*, resolve: Callable[..., Any] | None = ...) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def retry_on_db_conflict(unit: Any = None, /, *, resolve: Any = None) -> Any:
    """Replay a function that opens, fills and commits its own transaction when the database asks for that.

    The function must take plain values and read everything anew. Inside another replayed unit, or when it is handed
    a session that is in a transaction already, it runs once: then the outermost unit replays.
    `resolve`, called with the same arguments, answers after an unknown COMMIT: the unit's result if it took effect
    (found by a locking read of something the transaction wrote), None if it did not; without it the error is raised.
    A ConflictError that the function raises is replayed likewise, unless it is not `replayable`. A StaleDataError of a
    versioned row is replayed up to three attempts in all, 0.1 s doubling to at most 1 s apart, with jitter.
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
        token = _replaying.set(True)
        try:
            return _replay(
                functools.partial(_leaving_no_transaction, given, functools.partial(unit, *args, **kwargs)),
                functools.partial(resolve, *args, **kwargs) if resolve else None,
                unit.__qualname__,
            )
        finally:
            _replaying.reset(token)

    return replayed


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
    replay = _retrying(attempts, settings().deadlock_retry_delay, lambda last, tried: _gave_up(name, last, tried))
    return cast(R, replay(_settling_commits, unit, resolve))


def _retrying(attempts: int, delay: float, gave_up: Callable[[BaseException, int], Exception]) -> Retrying:
    """Tenacity's loop: retryable database errors, full jitter, attempts and deadline."""
    usual = wait_random_exponential(multiplier=delay, max=MAX_DELAY_S)
    stale = wait_random_exponential(multiplier=STALE_DELAY_S, max=STALE_MAX_DELAY_S)

    def wait(state: RetryCallState) -> float:
        return (stale if classify(_error_of(state)) is DbErrorClass.STALE else usual)(state)

    def stop(state: RetryCallState) -> bool:
        fewer = {DbErrorClass.ONCE: 2, DbErrorClass.STALE: STALE_ATTEMPTS}
        most = min(attempts, fewer.get(classify(_error_of(state)), attempts))
        return state.attempt_number >= most or seconds_left() <= state.upcoming_sleep

    def after_last(state: RetryCallState) -> Any:
        last = _error_of(state)
        final = gave_up(last, state.attempt_number)
        raise final from (None if final is last else last)

    return Retrying(
        retry=retry_if_exception(_worth_replaying),
        wait=wait,
        stop=stop,
        before_sleep=_log_replay,
        retry_error_callback=after_last,
    )


def _settling_commits(unit: Callable[[], R], resolve: Callable[[], R | None] | None) -> R:
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
    asking = _retrying(max(1, ours.deadlock_retry_attempts), ours.deadlock_retry_delay, still_unknown)
    return asking.copy(retry=retry_if_exception(worth_asking_again))(resolve)


def repeating_is_harmless(*_arguments: object) -> Any:
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


def acquire_lock_with_retry(
    session: Session,
    model: type[M],
    filter_value: Any,
    field_name: str = "id",
    is_list_filter: bool = False,
    attempts: int | None = None,
    delay: float | None = None,
) -> list[M]:
    """Lock the rows whose field has the value (or, with `is_list_filter`, one of the values), in primary key order.

    Returns the rows as they are now in the database, also where the session had read them before; a value that no
    row has locks nothing. In a transaction that the caller began, a conflict is raised as it is and the caller's
    `retry_on_db_conflict` replays the whole unit; where this call begins the transaction it rolls back and tries
    `attempts` times (default DB_DEADLOCK_RETRY_ATTEMPTS), `delay` seconds apart at first.
    Raises LockNotAcquiredError after the last attempt.
    """
    values = sorted(set(filter_value)) if is_list_filter else [filter_value]
    if session.in_transaction() or _replaying.get():
        return _locked_rows(session, model, field_name, values)
    ours = settings()

    def attempt() -> list[M]:
        try:
            return _locked_rows(session, model, field_name, values)
        except BaseException:
            session.rollback()
            raise

    def gave_up(_last: BaseException, tried: int) -> Exception:
        return LockNotAcquiredError(f"Failed to acquire lock after {tried} attempts")

    tries = ours.deadlock_retry_attempts if attempts is None else attempts
    return _retrying(max(1, tries), ours.deadlock_retry_delay if delay is None else delay, gave_up)(attempt)


def _locked_rows(session: Session, model: type[M], field_name: str, values: Sequence[Any]) -> list[M]:
    if not values:
        return []
    primary = [attribute.key for attribute in inspect(model).primary_key]
    field = getattr(model, field_name)
    statement = (
        select(model)
        .where(among(field, values))
        .order_by(*inspect(model).primary_key)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    if primary == [field_name]:
        # A scan of a small table would wait for rows that others hold and nobody asked for.
        statement = statement.with_hint(model, "FORCE INDEX (PRIMARY)", "mysql")
        statement = statement.with_hint(model, "FORCE INDEX (PRIMARY)", "mariadb")
    return list(session.scalars(statement))


def among(column: QueryableAttribute[Any], values: Sequence[Any]) -> ColumnElement[bool]:
    """Whether the column has one of the values, which are not none; said so that any number of them uses the index."""
    lists = [values[start : start + VALUES_A_LIST] for start in range(0, len(values), VALUES_A_LIST)]
    return or_(*(column.in_(each) for each in lists))


def insert_or_get(
    session: Session, model: type[M], key: Mapping[str, Any], values: Mapping[str, Any], *, unique_key: str
) -> tuple[M, bool]:
    """Insert a row, or find the one that has its key; returns (row, created).

    `key` are the columns of the unique index `unique_key`. The insert runs in a SAVEPOINT, so that a duplicate costs
    the caller nothing; the row that was there is read FOR UPDATE, which sees what was committed a moment ago and
    asks the database, not Python, which keys are equal. A row that vanishes in between is inserted after all.
    Raises the duplicate of any *other* key, and ConflictError if the row keeps vanishing.
    """
    session.flush()
    for _ in range(INSERT_OR_GET_ROUNDS):
        row = model(**key, **values)
        try:
            with session.begin_nested():
                session.add(row)
            return row, True
        except IntegrityError as error:
            if classify(error) is not DbErrorClass.DUPLICATE or duplicate_key(error) != unique_key:
                raise
        locked = select(model).filter_by(**key).with_for_update().execution_options(populate_existing=True)
        found = session.scalars(locked).one_or_none()
        if found is not None:
            return found, False
    raise ConflictError(f"a row of {model.__tablename__} appeared and vanished {INSERT_OR_GET_ROUNDS} times")
