"""Format rows of values as the text of a VALUES list, one column at a time.

Guaranteed: the server parses exactly the given values, whatever their content; a lone surrogate raises
UnicodeEncodeError here, before anything is sent. Inside single quotes MySQL interprets only the backslash and the quote
(reference manual, String Literals), unless the sql_mode has NO_BACKSLASH_ESCAPES; `shell.db.session` refuses such a
server. The driver escapes value by value, which takes ten times as long; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from types import NoneType
from typing import Any

from pymysql.converters import encoders, escape_item
from sqlalchemy import Connection, CursorResult
from sqlalchemy.exc import DBAPIError

# Short texts are joined by it and escaped together; texts that contain it, and long ones, are escaped one by one.
_SEPARATOR = "\x1f"
_SHORT = 100


def format_row_literals(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return each row as `'text',1,NULL`, without the parentheses."""
    return list(map(",".join, zip(*map(_format_column, zip(*rows, strict=True)), strict=True)))


def format_in_list(values: Sequence[Any]) -> str:
    """Return the values, at least one, as the text between the parentheses of an IN list."""
    return ",".join(_format_column(values))


def execute_literal(connection: Connection, statement: str, redacted: str) -> CursorResult[Any]:
    """Execute a statement that contains its values; an error's message has `redacted` instead of the statement.

    The values are document content, which must not appear in error messages.
    """
    try:
        return connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    except DBAPIError as error:
        error.statement = redacted
        raise


def _format_column(values: Sequence[Any]) -> list[str]:
    kinds = set(map(type, values))
    if NoneType in kinds:
        return _format_with_nulls(values)
    if kinds == {str}:
        return _format_texts(values)
    if kinds == {int}:
        return list(map(str, values))
    if kinds == {bytes}:
        return [f"x'{value.hex()}'" for value in values]
    if kinds == {datetime} and not any(value.tzinfo for value in values):
        return [f"'{value}'" for value in values]
    return [escape_item(value, "utf8mb4", encoders) for value in values]


def _format_with_nulls(values: Sequence[Any]) -> list[str]:
    present = iter(_format_column([value for value in values if value is not None]))
    return ["NULL" if value is None else next(present) for value in values]


def _format_texts(values: Sequence[str]) -> list[str]:
    text = _SEPARATOR.join(values)
    if len(text) > _SHORT * len(values) or text.count(_SEPARATOR) >= len(values):
        return [f"'{_escape(value)}'" for value in values]
    return f"'{_escape(text).replace(_SEPARATOR, _QUOTED_SEPARATOR)}'".split(_SEPARATOR)


_QUOTED_SEPARATOR = f"'{_SEPARATOR}'"


def _escape(text: str) -> str:
    if not text.isascii():
        # The driver would send a lone surrogate as bytes that are not valid UTF-8.
        text.encode()
    return text.replace("\\", "\\\\").replace("'", "''")
