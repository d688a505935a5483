"""A connection that reads and writes values as the server has them.

Guaranteed: no value is converted. What comes from a text column is its UTF-8, what comes from a binary column its
bytes, and a number or a time is the server's text of it, with all digits (MySQL manual, "Text Protocol").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import pymysql
from pymysql.converters import encoders
from pymysql.cursors import Cursor, SSCursor

from local.services.mysql_connection import parse_url

Row = tuple[bytes | None, ...]
# A stream may stand still while its rows are written to a file or to another database.
_SETTINGS = (
    "SET time_zone = '+00:00', net_write_timeout = 3600, wait_timeout = 28800",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO')",
)


class Connection:
    """A connection in autocommit; `stream` must be read to its end before the next statement."""

    def __init__(self, url: str) -> None:
        options = {**parse_url(url), "conv": encoders, "use_unicode": False, "autocommit": True}
        self._connection: pymysql.Connection[Any] = pymysql.connect(**options)
        for statement in _SETTINGS:
            self.execute(statement)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def stream(self, query: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query; neither side keeps them in memory."""
        with self._connection.cursor(SSCursor) as cursor:
            cursor.execute(query, values or None)
            yield from cursor

    def read(self, query: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return the rows of a query."""
        return list(self.stream(query, values))

    def execute(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Execute a statement and return how many rows it changed."""
        with self._connection.cursor(Cursor) as cursor:
            return cursor.execute(statement, values or None)

    def send(self, statement: bytes) -> None:
        """Execute a statement that contains its values."""
        self._connection.query(statement)

    def read_literal(self, query: bytes) -> list[Row]:
        """Return the rows of a query that contains its values."""
        with self._connection.cursor(Cursor) as cursor:
            cursor.execute(query)  # type: ignore[call-overload]
            return list(cursor.fetchall())

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what the block writes, or nothing of it if it raises."""
        self._connection.begin()
        try:
            yield
            self._connection.commit()
        except BaseException:
            self._connection.rollback()
            raise


def read_text(value: bytes | None) -> str:
    """Return a value as text, "" for NULL."""
    return (value or b"").decode()
