"""Locking rows in order, inserting or finding a row, counting what changed; and replaying, which these rest on.

Guaranteed: no helper ends a transaction that it did not begin; what conflicts in one is replayed by the outermost
`retry_on_db_conflict`, which with `repeating_is_harmless` is `shell.utils.replaying`'s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from sqlalchemy import ColumnElement, CursorResult, Result, inspect, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, QueryableAttribute, Session
from sqlalchemy.sql.selectable import HasHints

from core.errors import ConflictError, LockNotAcquiredError
from shell.settings import settings
from shell.utils.db_errors import DbErrorClass, classify, duplicate_key
from shell.utils.replaying import is_replayed, repeating_is_harmless, retry_on_db_conflict, retrying

__all__ = [
    "acquire_lock_with_retry",
    "among",
    "changed_rows",
    "forced",
    "insert_or_get",
    "repeating_is_harmless",
    "retry_on_db_conflict",
]

M = TypeVar("M", bound=DeclarativeBase)
S = TypeVar("S", bound=HasHints)

INSERT_OR_GET_ROUNDS = 5
# From a thousand values on MariaDB makes a join of its own out of an IN list, and locks in the order of that.
VALUES_A_LIST = 500


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
    if is_replayed(session):
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
    return retrying(max(1, tries), ours.deadlock_retry_delay if delay is None else delay, gave_up)(attempt)


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
        statement = forced(statement, model, "PRIMARY")
    return list(session.scalars(statement))


def changed_rows(result: Result[Any]) -> int:
    """How many rows an UPDATE found, also those that had its values already, or a DELETE removed."""
    return cast("CursorResult[Any]", result).rowcount


def forced(statement: S, model: type[DeclarativeBase], index: str) -> S:
    """The SELECT, made to use that index of the model's table on MySQL and MariaDB alike."""
    for dialect in ("mysql", "mariadb"):
        statement = statement.with_hint(model, f"FORCE INDEX ({index})", dialect)
    return statement


def among(column: QueryableAttribute[Any], values: Sequence[Any]) -> ColumnElement[bool]:
    """Whether the column has one of the values, which are not none; said so that any number of them uses the index."""
    lists = [values[start : start + VALUES_A_LIST] for start in range(0, len(values), VALUES_A_LIST)]
    return or_(*(column.in_(each) for each in lists))


def insert_or_get(
    transaction: Session, model: type[M], key: Mapping[str, Any], values: Mapping[str, Any], *, unique_key: str
) -> tuple[M, bool]:
    """Insert a row, or find the one that has its key; returns (row, created).

    `key` are the columns of the unique index `unique_key`. The insert runs in a SAVEPOINT, so that a duplicate costs
    the caller nothing; the row that was there is read FOR UPDATE, which sees what was committed a moment ago and
    asks the database, not Python, which keys are equal. A row that vanishes in between is inserted after all.
    Raises the duplicate of any *other* key, and ConflictError if the row keeps vanishing.
    """
    transaction.flush()
    for _ in range(INSERT_OR_GET_ROUNDS):
        row = model(**key, **values)
        try:
            with transaction.begin_nested():
                transaction.add(row)
            return row, True
        except IntegrityError as error:
            if classify(error) is not DbErrorClass.DUPLICATE or duplicate_key(error) != unique_key:
                raise
        locked = select(model).filter_by(**key).with_for_update().execution_options(populate_existing=True)
        found = transaction.scalars(locked).one_or_none()
        if found is not None:
            return found, False
    raise ConflictError(f"a row of {model.__tablename__} appeared and vanished {INSERT_OR_GET_ROUNDS} times")
