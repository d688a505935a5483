"""Locks by name, on a connection of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import Connection
from sqlalchemy.pool import NullPool

from core.errors import LockNotAcquiredError
from shell.settings import settings
from shell.utils.db_session import connect_args, database_url, log_in


@contextmanager
def exclusive_connection(name: str, timeout_s: int) -> Iterator[Connection]:
    """A connection of its own that holds the server's lock of that name within this database.

    The lock lives and dies with the connection, which is closed at the end and never pooled. `name` is ours, at most
    20 characters: the servers allow 64 with the database's name, and fold case differently.
    Raises LockNotAcquiredError if somebody else holds it for longer than `timeout_s` seconds.
    """
    made = create_engine(database_url(), poolclass=NullPool, connect_args=connect_args())
    if not settings().database_url:
        event.listen(made, "do_connect", log_in)
    with made.connect() as connection:
        acquired = connection.execute(
            text("SELECT GET_LOCK(CONCAT(LEFT(SHA2(DATABASE(), 256), 32), ':', :name), :timeout)"),
            {"name": name.lower(), "timeout": timeout_s},
        ).scalar()
        connection.commit()
        # 0 is a time-out and NULL an error; neither is a lock.
        if acquired != 1:
            raise LockNotAcquiredError(f"somebody else holds the lock {name!r} for longer than {timeout_s} s")
        yield connection
