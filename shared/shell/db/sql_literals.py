"""Format rows of values as the text of a VALUES list, one column at a time.

Guaranteed: the server parses exactly the given values, whatever their content; a lone surrogate raises
UnicodeEncodeError here, before anything is sent. Inside single quotes MySQL interprets only the backslash and the quote
(reference manual, String Literals), unless the sql_mode has NO_BACKSLASH_ESCAPES; `shell.db.session` refuses such a
server. The driver escapes value by value, which takes ten times as long; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import NoneType
from typing import Any, cast

from pymysql.converters import encoders, escape_item
from sqlalchemy import Connection, CursorResult
from sqlalchemy.exc import DBAPIError

from core.row_texts import Part, join_rows
from shell.db.value_lists import split_values


def format_row_literals(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return each row as `'text',1,NULL`, without the parentheses."""
    parts = [part for column in zip(*rows, strict=True) for part in (",", *_write_column(column))]
    return join_rows(parts[1:], len(rows))


def format_in_list(values: Sequence[Any]) -> str:
    """Return the values, at least one, as the text between the parentheses of an IN list."""
    return ",".join(join_rows(_write_column(values), len(values)))


def format_match(column: str, values: Sequence[Any]) -> str:
    """Return the condition that the column has one of the values, at least one, as text with literals."""
    return f"({' OR '.join(f'{column} IN ({format_in_list(each)})' for each in split_values(values))})"


def execute_literal(connection: Connection, statement: str, redacted: str) -> CursorResult[Any]:
    """Execute a statement that contains its values; an error's message has `redacted` instead of the statement.

    The values are document content, which must not appear in error messages.
    """
    try:
        return connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
    except DBAPIError as error:
        error.statement = redacted
        raise


def _write_column(values: Sequence[Any]) -> list[Part]:
    """Return the parts of which the values' literals consist."""
    kinds = set(map(type, values))
    if kinds == {NoneType}:
        return ["NULL"]
    if kinds <= {str, NoneType}:
        return _write_texts(values)
    if kinds == {int}:
        return [str(values[0]) if len(set(values)) == 1 else list(map(str, values))]
    if kinds == {bytes}:
        return ["x'", [value.hex() for value in values], "'"]
    return [[escape_item(value, "utf8mb4", encoders) for value in values]]


def _write_texts(values: Sequence[str | None]) -> list[Part]:
    text = "".join(filter(None, values))
    if not text.isascii():
        # The driver would send a lone surrogate as bytes that are not valid UTF-8.
        text.encode()
    if "'" in text or "\\" in text:
        values = [value and value.replace("\\", "\\\\").replace("'", "''") for value in values]
    if None in values:
        return [["NULL" if value is None else f"'{value}'" for value in values]]
    return ["'", cast("Sequence[str]", values), "'"]
