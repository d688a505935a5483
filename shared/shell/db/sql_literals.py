"""Rows of values as the text of a VALUES list, written a column at a time.

Guaranteed: the server reads the values that were given, whatever is in them; text that no encoding has raises
UnicodeEncodeError here, before anything is sent. In single quotes MySQL gives a meaning to the backslash and the quote
alone (reference manual, String Literals), unless NO_BACKSLASH_ESCAPES is in the sql_mode: such a server is refused by
`shell.utils.db_session`. The driver escapes cell by cell, which takes ten times as long; a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from types import NoneType
from typing import Any

from pymysql.converters import encoders, escape_item
from sqlalchemy import Connection, CursorResult
from sqlalchemy.exc import DBAPIError

# Short texts are escaped all at once, and told apart by it; texts that hold it one by one, as long ones.
_SEPARATOR = "\x1f"
_SHORT = 100


def row_literals(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Each row as `'text',1,NULL`: what stands between the brackets."""
    return list(map(",".join, zip(*map(_literals, zip(*rows, strict=True)), strict=True)))


def list_literal(values: Sequence[Any]) -> str:
    """The values, of which there must be some, as what stands between the brackets of an IN list."""
    return ",".join(_literals(values))


def execute_literal(connection: Connection, statement: str, shown: str) -> CursorResult[Any]:
    """Execute a statement that has its values in it; an error shows `shown` instead.

    The values are the contents of documents, and no error message shows these.
    """
    try:
        return connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    except DBAPIError as error:
        error.statement = shown
        raise


def _literals(values: Sequence[Any]) -> list[str]:
    kinds = set(map(type, values))
    if NoneType in kinds:
        return _with_nulls(values)
    if kinds == {str}:
        return _texts(values)
    if kinds == {int}:
        return list(map(str, values))
    if kinds == {bytes}:
        return [f"x'{value.hex()}'" for value in values]
    if kinds == {datetime} and not any(value.tzinfo for value in values):
        return [f"'{value}'" for value in values]
    return [escape_item(value, "utf8mb4", encoders) for value in values]


def _with_nulls(values: Sequence[Any]) -> list[str]:
    present = iter(_literals([value for value in values if value is not None]))
    return ["NULL" if value is None else next(present) for value in values]


def _texts(values: Sequence[str]) -> list[str]:
    text = _SEPARATOR.join(values)
    if len(text) > _SHORT * len(values) or text.count(_SEPARATOR) >= len(values):
        return [f"'{_escaped(value)}'" for value in values]
    return f"'{_escaped(text).replace(_SEPARATOR, _BETWEEN)}'".split(_SEPARATOR)


_BETWEEN = f"'{_SEPARATOR}'"


def _escaped(text: str) -> str:
    if not text.isascii():
        # The driver would send a lone surrogate as a byte that is no UTF-8.
        text.encode()
    return text.replace("\\", "\\\\").replace("'", "''")
