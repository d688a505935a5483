"""Write a schema as SQL: its tables and views, and the rows of one moment.

Guaranteed: `Dump` sees the rows as they were committed when it was opened, whatever is written meanwhile ("START
TRANSACTION WITH CONSISTENT SNAPSHOT", MySQL and MariaDB manuals); each line of `write_rows` is one statement. Values
are as the server sends them: none is converted. Not guaranteed: triggers and routines, of which the schema has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Self

import pymysql
from pymysql.converters import encoders
from pymysql.cursors import SSCursor

from local.services.mysql_connection import parse_url

_NUMBERS = frozenset(["tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "year"])
_BINARY = frozenset(["binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob", "bit"])
_ESCAPES = {b"\\": b"\\\\", b"'": b"\\'", b"\n": b"\\n", b"\r": b"\\r", b"\0": b"\\0", b"\x1a": b"\\Z"}
_ESCAPED = re.compile(rb"[\\'\n\r\0\x1a]")
_STATEMENT_BYTES = 1_000_000


class Dump:
    """The rows of a schema at the moment of opening; close it in the end."""

    def __init__(self, url: str) -> None:
        # Without converters and in the bytes of the server.
        options = {**parse_url(url), "conv": encoders, "use_unicode": False, "cursorclass": SSCursor}
        self._connection: pymysql.Connection[Any] = pymysql.connect(**options)
        self._execute("SET time_zone = '+00:00'")
        self._execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        self._execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def list_tables(self) -> list[str]:
        """Return the names of the tables, in order."""
        return [name for name, kind in self._list_all() if kind == "BASE TABLE"]

    def describe(self) -> list[str]:
        """Return the statements that create the tables, and then the views."""
        kinds = self._list_all()
        tables = [self._show("TABLE", name) for name, kind in kinds if kind == "BASE TABLE"]
        return tables + [self._show("VIEW", name) for name, kind in kinds if kind == "VIEW"]

    def write_rows(self, table: str, file: BinaryIO) -> int:
        """Write the statements that insert the rows of a table, each in a line; return how many rows there are."""
        columns = self._list_columns(table)
        names = ", ".join(f"`{name}`" for name, _ in columns)
        prefix = f"INSERT INTO `{table}` ({names}) VALUES ".encode()  # noqa: S608 - names of the schema
        quotes = [choose_quote(kind) for _, kind in columns]
        count, pending, size = 0, list[bytes](), 0
        for row in self._stream(f"SELECT {names} FROM `{table}`"):  # noqa: S608 - names of the schema
            pending.append(write_row(row, quotes))
            count, size = count + 1, size + len(pending[-1])
            if size > _STATEMENT_BYTES:
                file.write(prefix + b",".join(pending) + b"\n")
                pending, size = [], 0
        if pending:
            file.write(prefix + b",".join(pending) + b"\n")
        return count

    def _list_all(self) -> list[tuple[str, str]]:
        return [(name, kind) for name, kind in self._read("SHOW FULL TABLES")]

    def _list_columns(self, table: str) -> list[tuple[str, str]]:
        """Return names and types of the columns that have values of their own."""
        query = (
            "SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()"
            " AND TABLE_NAME = '{}' AND COALESCE(GENERATION_EXPRESSION, '') = '' ORDER BY ORDINAL_POSITION"
        )
        return [(name, kind.lower()) for name, kind in self._read(query.format(table))]

    def _show(self, kind: str, name: str) -> str:
        return self._read(f"SHOW CREATE {kind} `{name}`")[0][1]

    def _read(self, query: str) -> list[tuple[str, ...]]:
        return [tuple((each or b"").decode() for each in row) for row in self._stream(query)]

    def _stream(self, query: str) -> Iterator[tuple[bytes | None, ...]]:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            yield from cursor

    def _execute(self, statement: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(statement)


def choose_quote(kind: str) -> bytes:
    """Return what comes before a value of a type: nothing for a number."""
    if kind in _NUMBERS:
        return b""
    return b"_binary'" if kind in _BINARY else b"'"


def write_row(row: Sequence[bytes | None], quotes: Sequence[bytes]) -> bytes:
    return b"(" + b",".join(_write_value(*each) for each in zip(row, quotes, strict=True)) + b")"


def _write_value(value: bytes | None, quote: bytes) -> bytes:
    if value is None:
        return b"NULL"
    return quote + _ESCAPED.sub(lambda found: _ESCAPES[found[0]], value) + b"'" if quote else value
