"""Lock rows in order, insert or get a row, build conditions; re-export `retry_on_db_conflict` of `shell.db.retry`.

Guaranteed: no helper ends a transaction that it did not begin; after a conflict in one, the outermost
`retry_on_db_conflict` retries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, CursorResult, LargeBinary, Result, and_, inspect, or_, select
from sqlalchemy import cast as convert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, QueryableAttribute, Session
from sqlalchemy.sql.selectable import HasHints

from core.errors import ConflictError, LockNotAcquiredError
from shell.db.errors import DbErrorClass, classify, find_duplicate_key_name
from shell.db.retry import build_retrying, is_retried_by_caller, rerun_if_unknown, retry_on_db_conflict
from shell.db.value_lists import split_values
from shell.settings import settings

__all__ = [
    "acquire_lock_with_retry",
    "count_changed_rows",
    "force_index",
    "insert_or_get",
    "is_exactly",
    "is_in",
    "rerun_if_unknown",
    "retry_on_db_conflict",
]

M = TypeVar("M", bound=DeclarativeBase)
S = TypeVar("S", bound=HasHints)

INSERT_OR_GET_ROUNDS = 5


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

    Return the rows' current state, also where the session had read them before; a value without a row locks nothing.
    In a transaction that the caller began, a conflict is raised as it is, and the caller's `retry_on_db_conflict`
    retries the whole unit. Where this call begins the transaction, it rolls back and retries up to `attempts` times
    (default DB_DEADLOCK_RETRY_ATTEMPTS) with a first delay of `delay` seconds (default DB_DEADLOCK_RETRY_DELAY).
    Raises LockNotAcquiredError after the last attempt.
    """
    values = sorted(set(filter_value)) if is_list_filter else [filter_value]
    if is_retried_by_caller(session):
        return _locked_rows(session, model, field_name, values)
    configured = settings()

    def attempt() -> list[M]:
        try:
            return _locked_rows(session, model, field_name, values)
        except BaseException:
            session.rollback()
            raise

    def build_error(_last: BaseException, tried: int) -> Exception:
        return LockNotAcquiredError(f"Failed to acquire lock after {tried} attempts")

    tries = configured.deadlock_retry_attempts if attempts is None else attempts
    return build_retrying(max(1, tries), configured.deadlock_retry_delay if delay is None else delay, build_error)(
        attempt
    )


def _locked_rows(session: Session, model: type[M], field_name: str, values: Sequence[Any]) -> list[M]:
    if not values:
        return []
    primary = [attribute.key for attribute in inspect(model).primary_key]
    field = getattr(model, field_name)
    statement = (
        select(model)
        .where(is_in(field, values))
        .order_by(*inspect(model).primary_key)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    if primary == [field_name]:
        # A scan of a small table would wait for locks on rows that are not requested.
        statement = force_index(statement, model, "PRIMARY")
    return list(session.scalars(statement))


def count_changed_rows(result: Result[Any]) -> int:
    """Return how many rows an UPDATE matched, including rows that already had its values, or a DELETE removed."""
    return cast("CursorResult[Any]", result).rowcount


def force_index(statement: S, model: type[DeclarativeBase], index: str) -> S:
    """Return the SELECT with FORCE INDEX for that index of the model's table, on MySQL and on MariaDB."""
    for dialect in ("mysql", "mariadb"):
        statement = statement.with_hint(model, f"FORCE INDEX ({index})", dialect)
    return statement


def is_in(column: QueryableAttribute[Any], values: Sequence[Any]) -> ColumnElement[bool]:
    """Return the condition that the column has one of the values, at least one; any number of them uses the index."""
    return or_(*(column.in_(each) for each in split_values(values)))


def is_exactly(column: QueryableAttribute[str], values: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that the column has one of the texts, byte for byte; it uses the index of the column.

    `=` alone ignores trailing spaces, and with some collations case and accents (MySQL manual, "Trailing Space Handling
    in Comparisons"). Each text must be one that the column can hold.
    """
    return and_(column.in_(values), convert(column, LargeBinary).in_([value.encode() for value in values]))


def insert_or_get(
    transaction: Session, model: type[M], key: Mapping[str, Any], values: Mapping[str, Any], *, unique_key: str
) -> tuple[M, bool]:
    """Insert a row, or get the existing one with its key; return (row, created).

    `key` are the columns of the unique index `unique_key`. The insert runs in a SAVEPOINT, so a duplicate does not
    affect the caller's transaction. An existing row is read FOR UPDATE, which sees the latest commit and lets the
    database, not Python, decide which keys are equal. If that row has been deleted meanwhile, the insert is repeated.
    Raises IntegrityError for a duplicate of any *other* key, and ConflictError if the row is deleted again and again.
    """
    transaction.flush()
    for _ in range(INSERT_OR_GET_ROUNDS):
        row = model(**key, **values)
        try:
            with transaction.begin_nested():
                transaction.add(row)
            return row, True
        except IntegrityError as error:
            if classify(error) is not DbErrorClass.DUPLICATE or find_duplicate_key_name(error) != unique_key:
                raise
        locked = select(model).filter_by(**key).with_for_update().execution_options(populate_existing=True)
        found = transaction.scalars(locked).one_or_none()
        if found is not None:
            return found, False
    raise ConflictError(
        f"A row of {model.__tablename__} was created and deleted by others {INSERT_OR_GET_ROUNDS} times; try again."
    )
