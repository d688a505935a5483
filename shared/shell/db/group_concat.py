"""Select thousands of small rows as one GROUP_CONCAT value: the driver takes longer for a row than the server does.

Guaranteed: the result has all rows, or an error is raised. The server truncates a GROUP_CONCAT at
`group_concat_max_len` with only a warning; this module raises that limit and counts the rows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.orm import Session

from core.errors import DatabaseUnavailableError
from shell.db.session_variables import set_session_variable
from shell.db.sql_literals import execute_literal

# Several times the bytes of a chunk's rows.
MAX_BYTES = 16_000_000
BETWEEN_VALUES, _END_OF_ROW = ":", ";"


def select_packed_rows(transaction: Session, columns: str, rows: str) -> Iterator[list[str]]:
    """Yield the rows of `SELECT columns rows`, unordered, each as a list of texts.

    `columns` are expressions whose text has no colon, semicolon or NULL, such as numbers or HEX(). `rows` is the rest
    of the statement, with its values as literals. Raises DatabaseUnavailableError if the server truncated the result.
    """
    return (row.split(BETWEEN_VALUES) for row in select_packed(transaction, columns, rows))


def select_packed(transaction: Session, columns: str, rows: str) -> list[str]:
    """Return the same rows, each as one text with colons between its values; raises as `select_packed_rows` does."""
    packing = f"CONCAT_WS('{BETWEEN_VALUES}', {columns}), '{_END_OF_ROW}' SEPARATOR ''"
    count, packed = _select(transaction, packing, columns, rows)
    *found, rest = packed.split(_END_OF_ROW)
    if len(found) != count or rest:
        raise _build_error(len(found), count)
    return found


def select_json_rows(transaction: Session, columns: str, rows: str) -> list[Sequence[Any]]:
    """Return the rows of `SELECT columns rows`, unordered, with the integers, texts and NULLs as they are stored.

    Raises DatabaseUnavailableError if the server truncated the result: a text grows to up to six times its bytes.
    """
    count, packed = _select(transaction, f"JSON_ARRAY({columns}) SEPARATOR ','", columns, rows)
    try:
        found: list[Sequence[Any]] = json.loads(f"[{packed}]")
    except ValueError as error:
        raise _build_error(0, count) from error
    if len(found) != count:
        raise _build_error(len(found), count)
    return found


def _select(transaction: Session, packing: str, columns: str, rows: str) -> tuple[int, str]:
    """Return the number of rows, and as much as the server returned of them."""
    connection = transaction.connection()
    set_session_variable(connection, "group_concat_max_len", MAX_BYTES)
    statement = f"SELECT COUNT(*), GROUP_CONCAT({packing}) {rows}"
    row: Any = execute_literal(connection, statement, f"SELECT {columns}").one()
    return int(row[0]), str(row[1] or "")


def _build_error(found: int, count: int) -> DatabaseUnavailableError:
    advice = "raise its max_allowed_packet and group_concat_max_len."
    return DatabaseUnavailableError(f"The server returned {found} of {count} rows; {advice}")
