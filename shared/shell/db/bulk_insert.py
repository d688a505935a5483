"""Bulk inserts: many rows in few statements, without changed values and with few deadlocks.

Guaranteed: rows that other writers may insert too are sorted by key, so that two writers lock them in the same order
(nearly so for names, which a collation may order differently than Python does; a deadlock is retried); an existing
row is left as it is; a value that the column cannot hold is an error and is never changed to fit.
Not guaranteed: which rows were new. Under SQLAlchemy's FOUND_ROWS flag the row count is 1 for both; read them back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.errors import InvalidInputError
from shell.db.errors import DbErrorClass, classify, error_number
from shell.db.session_variables import set_session_variable
from shell.db.sql_literals import execute_literal, format_row_literals

Row = tuple[Any, ...]
AnyRow = TypeVar("AnyRow", bound=Row)
DUPLICATE_ENTRY = 1062
# The server lists at most 65,535 warnings, and a row can cause several.
IGNORE_BATCH, MAX_WARNINGS = 10_000, 65_535
STATEMENT_BYTES = 1_000_000


class InsertResult(NamedTuple):
    """The result of one statement: LAST_INSERT_ID, its number of rows, and the server's warning count.

    If all rows were new, their ids may be `first_id` and each INCREMENT more (`shell.db.ids`); the caller must verify
    that.
    """

    first_id: int
    rows: int
    warnings: int


def insert_missing(
    transaction: Session, table: str, columns: Sequence[str], rows: Iterable[Row], key: int = 1
) -> list[InsertResult]:
    """Insert the rows whose unique key does not exist yet; leave existing rows untouched.

    `rows` hold values in the order of `columns` and are sorted by the first `key` columns.
    Returns one result for each statement, in the order of the sorted rows; it does not say which rows were new.
    """
    ordered = sorted(rows, key=itemgetter(*range(key)))
    return insert_missing_literals(transaction, table, columns, format_row_literals(ordered))


def insert_missing_literals(
    transaction: Session, table: str, columns: Sequence[str], literals: Sequence[str]
) -> list[InsertResult]:
    """Do what `insert_missing` does with rows that are sorted by their key and formatted by `format_row_literals`.

    `ON DUPLICATE KEY UPDATE`
    of a column with itself keeps strict mode on, which INSERT IGNORE does not. It must be a column that the rows
    supply: for a generated id MySQL raises error 1869 where two of the rows have the same key.
    """
    column = columns[0]
    return list(
        _execute(transaction, _insert_clause(table, columns), literals, f" ON DUPLICATE KEY UPDATE {column} = {column}")
    )


def insert_new(transaction: Session, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Insert rows that no other writer can have inserted; a duplicate raises IntegrityError."""
    deque(_execute(transaction, _insert_clause(table, columns), format_row_literals(rows)), maxlen=0)


def overwrite_versioned(
    transaction: Session, table: str, columns: Sequence[str], rows: Sequence[Row], changed: Sequence[str]
) -> None:
    """Set the columns `changed` of existing rows and raise their versions: one statement for each megabyte.

    The caller has locked the rows. `rows` hold values in the order of `columns`: the primary key, by which the server
    finds each row, `changed`, and values that are not stored for columns without a default. An UPDATE joined with a
    JSON_TABLE of the values takes four times as long.
    """
    values = ", ".join(f"{name} = VALUES({name})" for name in changed)
    suffix = f" ON DUPLICATE KEY UPDATE {values}, version = version + 1"
    deque(_execute(transaction, _insert_clause(table, columns), format_row_literals(rows), suffix), maxlen=0)


def insert_ignore_checked(
    transaction: Session, table: str, columns: Sequence[str], rows: Iterable[Row], key: int = 1
) -> None:
    """Run `insert_ignore` in a SAVEPOINT, so that a caller can continue its transaction after InvalidInputError.

    One statement and one SHOW WARNINGS for thousands of rows; for rows that consist of keys only.
    """
    with transaction.begin_nested():
        insert_ignore(transaction, table, columns, rows, key)


def insert_ignore(transaction: Session, table: str, columns: Sequence[str], rows: Iterable[Row], key: int = 1) -> None:
    """Insert with INSERT IGNORE; raise InvalidInputError for any warning other than a duplicate key.

    After that error the caller must roll back. An existing row gets a shared lock, where `insert_missing` takes an
    exclusive one. IGNORE turns errors into warnings, and the server lists no more than `max_error_count` of them; the
    variable is raised where the user may set it, otherwise a statement has no more rows than the server lists warnings.
    """
    ordered = sorted(rows, key=itemgetter(*range(key)))
    listed = set_session_variable(transaction.connection(), "max_error_count", MAX_WARNINGS)
    batch = max(1, min(IGNORE_BATCH, listed))
    for start in range(0, len(ordered), batch):
        _insert_ignore(transaction, table, columns, ordered[start : start + batch])


def _insert_ignore(transaction: Session, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    insert = _insert_clause(table, columns).replace("INSERT", "INSERT IGNORE", 1)
    for result in _execute(transaction, insert, format_row_literals(rows)):
        warnings = transaction.connection().exec_driver_sql("SHOW WARNINGS").all()
        changed = [row for row in warnings if row[1] != DUPLICATE_ENTRY]
        if changed:
            raise InvalidInputError(f"{table}: the server would have changed a value to fit (warning {changed[0][1]}).")
        if result.warnings > len(warnings):
            # An unlisted warning may be a changed value. Repeating rows is harmless; halves are listed in full.
            _insert_ignore_halves(transaction, table, columns, rows)
            return


def _insert_ignore_halves(transaction: Session, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    middle = len(rows) // 2
    if not middle:
        raise InvalidInputError(f"{table}: the server may have changed a value to fit; it does not list the warning.")
    _insert_ignore(transaction, table, columns, rows[:middle])
    _insert_ignore(transaction, table, columns, rows[middle:])


def insert_bisecting(
    transaction: Session, insert: Callable[[Sequence[AnyRow]], None], rows: Sequence[AnyRow]
) -> list[tuple[AnyRow, int | None]]:
    """Insert or update all rows that the server accepts; return the rejected ones, each with the server's error number.

    `insert` must be idempotent, as `insert_missing` is, or one statement: the first attempt runs without a SAVEPOINT.
    After an error of class DATA the rows are bisected, each part in a SAVEPOINT of its own; any other error is raised.
    """
    if not rows:
        return []
    try:
        insert(rows)
        return []
    except (DBAPIError, UnicodeEncodeError) as error:
        if classify(error) is not DbErrorClass.DATA:
            raise
    return _bisect(transaction, insert, rows)


def try_write(transaction: Session, write: Callable[[], None]) -> bool:
    """Write in a SAVEPOINT; return False, with nothing written, if an error of class DATA blames a value."""
    return not _bisect(transaction, lambda _: write(), [()])


def _bisect(
    transaction: Session, insert: Callable[[Sequence[AnyRow]], None], rows: Sequence[AnyRow]
) -> list[tuple[AnyRow, int | None]]:
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
    return _bisect(transaction, insert, rows[:middle]) + _bisect(transaction, insert, rows[middle:])


def _insert_clause(table: str, columns: Sequence[str]) -> str:
    # Table and column names are constants of this code; every value is escaped by `format_row_literals`. The names are
    # quoted because one can be a word that MySQL reserves and MariaDB does not, as `stored` is.
    names = ", ".join(f"`{name}`" for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES "  # noqa: S608


def _execute(transaction: Session, insert: str, literals: Sequence[str], suffix: str = "") -> Iterator[InsertResult]:
    """Execute one statement for each megabyte of literals."""
    for part in _split(literals):
        result = execute_literal(transaction.connection(), f"{insert}({'),('.join(part)}){suffix}", insert)
        yield InsertResult(result.lastrowid, len(part), result.context.cursor.warning_count)


def _split(literals: Sequence[str]) -> Iterator[Sequence[str]]:
    start = size = 0
    for end, literal in enumerate(literals):
        row = len(literal) if literal.isascii() else len(literal.encode())
        if size and size + row > STATEMENT_BYTES:
            yield literals[start:end]
            start, size = end, 0
        size += row
    if literals:
        yield literals[start:]
