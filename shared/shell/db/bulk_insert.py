"""Many rows in few statements, without a damaged value, and with as few deadlocks as order can see to.

Guaranteed: rows that others may have go in sorted by key, so that two writers meet in the same order (for names that a
collation orders otherwise than their characters do, nearly so: what deadlocks is replayed); a row whose key exists is
left as it is; a value that the column cannot hold is an error, never a changed value.
Not guaranteed: which rows were new. Under SQLAlchemy's FOUND_ROWS flag the row count says 1 for both; read them back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from core.errors import InvalidInputError
from shell.utils.db_errors import DbErrorClass, classify, error_number
from shell.utils.literals import execute_literal, row_literals
from shell.utils.session_variables import set_if_allowed

Row = tuple[Any, ...]
DUPLICATE_ENTRY = 1062
# Fewer than the server can list warnings for: 65,535, and a row can cause several.
IGNORE_BATCH, MOST_WARNINGS = 10_000, 65_535
STATEMENT_BYTES = 1_000_000


class Inserted(NamedTuple):
    """One statement: LAST_INSERT_ID, how many of the sorted rows it had, and how many warnings the server counted.

    Rows that were all new may have the ids from there on; who wants to know has to prove it.
    """

    first_id: int
    rows: int
    warnings: int


def insert_missing(
    transaction: Session, table: str, columns: Sequence[str], rows: Iterable[Row], key: int = 1
) -> list[Inserted]:
    """Insert the rows whose unique key is not there yet; the others are left untouched.

    `rows` hold the values in the order of `columns`, of which the first `key` are what the rows are sorted by.
    `ON DUPLICATE KEY UPDATE` of a column by itself keeps strict mode on, which INSERT IGNORE does not. The column is
    one that the rows give: of a generated id MySQL refuses it (1869) where two of the rows have the same key.
    Returns a statement's worth of the sorted rows each; whether they were new is for the caller to find out.
    """
    ordered = sorted(rows, key=itemgetter(*range(key)))
    same = columns[0]
    return list(_execute(transaction, _insert(table, columns), ordered, f" ON DUPLICATE KEY UPDATE {same} = {same}"))


def insert_new(transaction: Session, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Insert rows that nobody else can have inserted; a duplicate is an error."""
    deque(_execute(transaction, _insert(table, columns), rows), maxlen=0)


def insert_ignore_checked(
    transaction: Session, table: str, columns: Sequence[str], rows: Iterable[Row], key: int = 1
) -> None:
    """INSERT IGNORE that refuses to damage: any warning other than a duplicate key raises InvalidInputError.

    One statement and one SHOW WARNINGS for thousands of rows; for rows of keys only. A SAVEPOINT takes back what was
    inserted, for a caller that goes on.
    """
    with transaction.begin_nested():
        insert_ignore(transaction, table, columns, rows, key)


def insert_ignore(transaction: Session, table: str, columns: Sequence[str], rows: Iterable[Row], key: int = 1) -> None:
    """INSERT IGNORE that raises InvalidInputError for any warning but a duplicate key; then the caller must roll back.

    A row that is there already is locked to be shared, and not for the caller alone as `insert_missing` does. IGNORE
    turns errors into warnings, and the server lists no more than `max_error_count` of them: that is raised where it can
    be, and where it cannot, as many rows go in one statement as it can list.
    """
    ordered = sorted(rows, key=itemgetter(*range(key)))
    listed = set_if_allowed(transaction.connection(), "max_error_count", MOST_WARNINGS)
    most = max(1, min(IGNORE_BATCH, listed))
    for start in range(0, len(ordered), most):
        _insert_ignore(transaction, table, columns, ordered[start : start + most])


def _insert_ignore(transaction: Session, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    for done in _execute(transaction, _insert(table, columns).replace("INSERT", "INSERT IGNORE", 1), rows):
        warnings = transaction.connection().exec_driver_sql("SHOW WARNINGS").all()
        damaged = [row for row in warnings if row[1] != DUPLICATE_ENTRY]
        if damaged:
            raise InvalidInputError(f"{table}: the server would have damaged a value (warning {damaged[0][1]})")
        if done.warnings > len(warnings):
            # What is not listed may be damage. The same rows again change nothing, and fewer are listed whole.
            _insert_ignore_halves(transaction, table, columns, rows)
            return


def _insert_ignore_halves(transaction: Session, table: str, columns: Sequence[str], rows: Sequence[Row]) -> None:
    middle = len(rows) // 2
    if not middle:
        raise InvalidInputError(f"{table}: the server would have damaged a value, and does not list the warning")
    _insert_ignore(transaction, table, columns, rows[:middle])
    _insert_ignore(transaction, table, columns, rows[middle:])


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
    # Table and columns are names in our own code; every value is a literal of `row_literals`.
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES "  # noqa: S608


def _execute(transaction: Session, insert: str, rows: Sequence[Row], behind: str = "") -> Iterator[Inserted]:
    """One statement for each megabyte."""
    for part in _parts(row_literals(rows)):
        done = execute_literal(transaction.connection(), f"{insert}({'),('.join(part)}){behind}", insert)
        yield Inserted(done.lastrowid, len(part), done.context.cursor.warning_count)


def _parts(literals: Sequence[str]) -> Iterator[Sequence[str]]:
    start = size = 0
    for end, literal in enumerate(literals):
        row = len(literal) if literal.isascii() else len(literal.encode())
        if size and size + row > STATEMENT_BYTES:
            yield literals[start:end]
            start, size = end, 0
        size += row
    if literals:
        yield literals[start:]
