"""Select thousands of small rows as one GROUP_CONCAT value: the driver takes longer for a row than the server does.

Guaranteed: the result has all rows, or an error is raised. The server truncates a GROUP_CONCAT at
`group_concat_max_len` with only a warning; this module raises that limit and counts the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
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
    connection = transaction.connection()
    set_session_variable(connection, "group_concat_max_len", MAX_BYTES)
    packing = f"GROUP_CONCAT(CONCAT_WS('{BETWEEN_VALUES}', {columns}), '{_END_OF_ROW}' SEPARATOR '')"
    statement = f"SELECT COUNT(*), {packing} {rows}"
    row: Any = execute_literal(connection, statement, f"SELECT {columns}").one()
    *found, rest = str(row[1] or "").split(_END_OF_ROW)
    if len(found) != row[0] or rest:
        raise DatabaseUnavailableError(
            f"The server returned {len(found)} of {row[0]} rows; raise its max_allowed_packet and group_concat_max_len."
        )
    return found
