"""What tests of the tortured database do with plain connections, without any of the application's care."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pymysql
import pytest
from pymysql.connections import Connection

from tests.torture.faults.faulty_proxy import Injection
from tests.torture.stack.database_server import TorturedDatabase

Connect = Callable[[], "Connection[Any]"]


def run(connection: Connection[Any], *statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def number(connection: Connection[Any], *statements: str) -> int:
    """The error that the statements end in."""
    with pytest.raises(pymysql.Error) as caught:
        run(connection, *statements)
    return int(caught.value.args[0])


def inject(database: TorturedDatabase, injection: Injection, statement: bytes) -> None:
    """Once, at the statement that begins like this."""
    left = [injection]
    database.proxy.decide = lambda text: left.pop() if left and text.startswith(statement) else None


def notes(database: TorturedDatabase) -> list[str]:
    return [row[0] for row in database.query("SELECT note FROM toys ORDER BY id")]


def begun(connection: Connection[Any]) -> Connection[Any]:
    """In a transaction that has written, and in a SAVEPOINT of it."""
    run(connection, "UPDATE toys SET note = 'before' WHERE id = 1", "SAVEPOINT here")
    return connection


def after(connection: Connection[Any]) -> tuple[int, str]:
    """Whether the SAVEPOINT is there still, and what the transaction sees of what it wrote before."""
    gone = 0
    try:
        run(connection, "ROLLBACK TO SAVEPOINT here")
    except pymysql.Error as error:
        gone = int(error.args[0])
    with connection.cursor() as cursor:
        cursor.execute("SELECT note FROM toys WHERE id = 1")
        (note,) = cursor.fetchone() or ("",)
    return gone, str(note)
