"""Thousands of small rows in one value: the driver takes longer for a row than the server does.

Guaranteed: all rows, or an error: the server cuts the value that it is asked to put together at a length of its own,
with nothing but a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy.orm import Session

from core.errors import DatabaseUnavailableError
from shell.utils.literals import execute_literal
from shell.utils.session_variables import set_once

# Several times what a chunk's rows can come to.
MOST_BYTES = 16_000_000
BETWEEN_VALUES, _END_OF_ROW = ":", ";"


def packed_rows(transaction: Session, columns: str, rows: str) -> Iterator[list[str]]:
    """`SELECT columns rows`, in no order; `columns` are expressions for text without colon, semicolon and NULL.

    `rows` is what follows the columns, with its values as literals. A column of numbers or a HEX() is such a text.
    """
    return (row.split(BETWEEN_VALUES) for row in packed(transaction, columns, rows))


def packed(transaction: Session, columns: str, rows: str) -> list[str]:
    """The same, the values of each row together, with a colon between them."""
    connection = transaction.connection()
    set_once(connection, "group_concat_max_len", MOST_BYTES)
    packing = f"GROUP_CONCAT(CONCAT_WS('{BETWEEN_VALUES}', {columns}), '{_END_OF_ROW}' SEPARATOR '')"
    statement = f"SELECT COUNT(*), {packing} {rows}"
    row: Any = execute_literal(connection, statement, f"SELECT {columns}").one()
    *found, rest = str(row[1] or "").split(_END_OF_ROW)
    if len(found) != row[0] or rest:
        raise DatabaseUnavailableError(f"the server gave {len(found)} of {row[0]} rows; raise its max_allowed_packet")
    return found
