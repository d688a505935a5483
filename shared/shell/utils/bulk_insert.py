"""Many rows in few statements, without a deadlock and without a damaged value.

Guaranteed: rows go in sorted by key, so that two writers meet in the same order (for names that a collation orders
otherwise than their characters do, nearly so: what deadlocks is replayed); a row whose key exists is left as it is; a
value that the column cannot hold is an error (the statement stays in strict mode), never a changed value.
Not guaranteed: which rows were new. Under SQLAlchemy's FOUND_ROWS flag the row count says 1 for both; read them back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.errors import InvalidInputError
from shell.utils.db_errors import DbErrorClass, classify, error_number

Row = tuple[Any, ...]
DUPLICATE_ENTRY = 1062
# Fewer than the server can list warnings for: 65,535, and a row can cause several.
IGNORE_BATCH = 10_000


def insert_missing(transaction: Session, table: str, columns: Sequence[str], rows: Iterable[Row], key: int = 1) -> None:
    """Insert the rows whose unique key is not there yet; the others are left untouched.

    `rows` hold the values in the order of `columns`, of which the first `key` are what the rows are sorted by.
    `ON DUPLICATE KEY UPDATE` of a column by itself keeps strict mode on, which INSERT IGNORE does not. The column is
    one that the rows give: of a generated id MySQL refuses it (1869) where two of the rows have the same key.
    """
    ordered = sorted(rows, key=lambda row: row[:key])
    if ordered:
        same = columns[0]
        _execute(transaction, f"{_insert(table, columns)} ON DUPLICATE KEY UPDATE {same} = {same}", ordered)


def insert_new(transaction: Session, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Insert rows that nobody else can have inserted; a duplicate is an error."""
    if rows:
        _execute(transaction, _insert(table, columns), list(rows))


def insert_ignore_checked(
    transaction: Session, table: str, columns: Sequence[str], rows: Iterable[Row], key: int = 1
) -> None:
    """INSERT IGNORE that refuses to damage: any warning other than a duplicate key raises InvalidInputError.

    One statement and one SHOW WARNINGS for thousands of rows; for rows of keys only. IGNORE turns errors into
    warnings, and the server lists no more than `max_error_count` of them, so that is raised for the check. A SAVEPOINT
    takes back what was damaged, for a caller that goes on.
    """
    ordered = sorted(rows, key=lambda row: row[:key])
    for start in range(0, len(ordered), IGNORE_BATCH):
        with transaction.begin_nested():
            _insert_ignore(transaction, table, columns, ordered[start : start + IGNORE_BATCH])


def _insert_ignore(transaction: Session, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    marks = ", ".join(["(" + ", ".join(["%s"] * len(columns)) + ")"] * len(rows))
    statement = _insert(table, columns).partition(" VALUES ")[0].replace("INSERT", "INSERT IGNORE", 1)
    connection = transaction.connection()
    connection.exec_driver_sql("SET SESSION max_error_count = 65535")
    connection.exec_driver_sql(f"{statement} VALUES {marks}", tuple(value for row in rows for value in row))
    damaged = [row for row in connection.exec_driver_sql("SHOW WARNINGS").all() if row[1] != DUPLICATE_ENTRY]
    if damaged:
        raise InvalidInputError(f"{table}: the server would have damaged a value (warning {damaged[0][1]})")


def insert_bisecting(
    transaction: Session, insert: Callable[[Sequence[Row]], None], rows: Sequence[Row]
) -> list[tuple[Row, int | None]]:
    """Insert all rows that the server accepts; returns the refused ones, each with the server's error number.

    `insert` must be one that changes nothing when it is repeated, as `insert_missing` is: the first attempt costs no
    SAVEPOINT. Only errors that blame a value are bisected, each part in a SAVEPOINT of its own; others are raised.
    """
    if not rows:
        return []
    try:
        insert(rows)
        return []
    except (DBAPIError, UnicodeEncodeError) as error:
        if classify(error) is not DbErrorClass.DATA:
            raise
    return _refused(transaction, insert, rows)


def _refused(
    transaction: Session, insert: Callable[[Sequence[Row]], None], rows: Sequence[Row]
) -> list[tuple[Row, int | None]]:
    try:
        with transaction.begin_nested():
            insert(rows)
        return []
    except (DBAPIError, UnicodeEncodeError) as error:
        if classify(error) is not DbErrorClass.DATA:
            raise
        if len(rows) == 1:
            return [(rows[0], error_number(error))]
    middle = len(rows) // 2
    return _refused(transaction, insert, rows[:middle]) + _refused(transaction, insert, rows[middle:])


def _insert(table: str, columns: Sequence[str]) -> str:
    # Table and columns are names in our own code; every value is a parameter.
    marks = ", ".join(["%s"] * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"  # noqa: S608


def _execute(transaction: Session, statement: str, rows: list[Row]) -> None:
    """PyMySQL folds executemany of such a statement into one statement per megabyte."""
    transaction.connection().exec_driver_sql(statement, rows)
