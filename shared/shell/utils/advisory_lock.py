"""Locks by name, each on a connection of its own; above all the one under which rows are appended to a destination.

Guaranteed: a lock is the server's, within this database; it lives and dies with its connection, which is closed at the
end, is never pooled and never reconnects; waiting for it ends; a killed or frozen holder keeps a destination no longer
than its invocation could last, and five seconds.
Not guaranteed: that a lock is still held. Its connection can die under a living holder, and a failover forgets all
locks. So the lock only makes writers wait in turn; that their rows do not mix rests on the destination's row, in
`shell.utils.insert_destinations`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from sqlalchemy import URL, Engine, create_engine, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from core.errors import ConflictError, LockNotAcquiredError
from shell.invocation import MARGIN_S, seconds_left
from shell.observability import logger
from shell.utils.db_connecting import connect_args, database_url, lock_database_url
from shell.utils.db_errors import DEADLOCK, error_number
from shell.utils.db_session import guarded
from shell.utils.insert_destinations import ROUNDS, InsertLock, destination_of, new_epoch, next_positions

__all__ = ["InsertLock", "exclusive_connection", "insert_lock_name", "next_positions", "table_insert_lock"]

LONGEST_WAIT_S = 30
GRACE_S = 5
DAY_S = 86_400
USER_LOCK_DEADLOCK = 3058

# One server may have many databases, MySQL allows 64 characters and takes a and A for one, MariaDB for two.
NAME_IN_DATABASE = "CONCAT(LEFT(SHA2(DATABASE(), 256), 32), ':', :name)"
_GET = text(f"SELECT GET_LOCK({NAME_IN_DATABASE}, :timeout)")
_RELEASE = text(f"SELECT RELEASE_LOCK({NAME_IN_DATABASE})")
_LIVE = text("SET SESSION wait_timeout = :seconds")

_held: ContextVar[tuple[str, ...]] = ContextVar("held", default=())


@contextmanager
def exclusive_connection(name: str, timeout_s: int, *, longest_statement_s: int | None = None) -> Iterator[Connection]:
    """A connection of its own that holds the server's lock of that name within this database.

    The lock lives and dies with the connection, which is closed at the end and never pooled. `name` is ours, at most
    30 characters in lower case. A statement that takes longer than `longest_statement_s` is left to the server, which
    goes on with it and keeps the lock until its end; here it is a lost connection.
    Raises LockNotAcquiredError if somebody else holds it for longer than `timeout_s` seconds.
    """
    with _unpooled(lock_database_url(), longest_statement_s).connect() as connection:
        get_lock(connection, name, timeout_s, f"the lock {name!r}")
        connection.commit()
        yield connection


@contextmanager
def table_insert_lock(destination: str) -> Iterator[InsertLock]:
    """For the block nobody else appends to the destination; others wait their turn, other destinations never do.

    Taken before the transaction and released after its COMMIT, and all of it is one unit of `retry_on_db_conflict`:

        @retry_on_db_conflict
        def append(...):
            with table_insert_lock(name) as lock, session() as transaction:
                first = next_positions(transaction, lock, len(rows))
                ...

    For whatever appends rows to a destination that others may append to. Not for making a new one, reading, or
    changing rows that are there. Its connection goes round a proxy that shares connections, which would have to keep
    one for it. Whoever needs several takes them in the order of their names.
    Waits 30 s at most, and no longer than the invocation lasts. Raises LockNotAcquiredError if it was not to be had,
    InvalidInputError for a name that cannot be stored exactly, and RuntimeError for what would wait for itself: a
    destination that is held here already, or one whose name sorts before it; and for a release before the COMMIT.
    """
    held = _held.get()
    if any(destination <= each for each in held):
        raise RuntimeError("a destination is locked once, and several are locked in the order of their names")
    token = _held.set((*held, destination))
    try:
        with _unpooled(lock_database_url()).connect() as connection:
            asked = time.monotonic()
            lock = _acquired(connection, destination)
            acquired = time.monotonic()
            try:
                yield lock
                lock.refuse_open_transaction()
            finally:
                _release(connection, lock)
                _log(lock, acquired - asked, time.monotonic() - acquired)
    finally:
        _held.reset(token)


def _acquired(connection: Connection, destination: str) -> InsertLock:
    """The lock, and an epoch that no earlier holder has. A destination whose row is gone is made anew."""
    connection.execute(_LIVE, {"seconds": _seconds_to_live()})
    for _ in range(ROUNDS):
        known = destination_of(database_url(), destination)
        wait = max(0, math.floor(min(LONGEST_WAIT_S, seconds_left())))
        get_lock(connection, insert_lock_name(known.advisory_id), wait, f"the insert lock of destination {known.id}")
        epoch = new_epoch(connection, known)
        if epoch is not None:
            return InsertLock(known.id, known.advisory_id, epoch)
        destination_of.cache_clear()
        connection.execute(_RELEASE, {"name": insert_lock_name(known.advisory_id)})
    raise ConflictError(f"an insert destination vanished {ROUNDS} times")


def insert_lock_name(advisory_id: int) -> str:
    """The name of a destination's lock: the same length for every id."""
    return f"insert:{advisory_id:016x}"


def get_lock(connection: Connection, name: str, timeout_s: int, called: str) -> None:
    """Wait for the server's lock of that name within this database, for the connection.

    Raises LockNotAcquiredError, which begins with what it is `called`, unless the server says plainly that it is ours.
    """
    asked = time.monotonic()
    try:
        answer = connection.execute(_GET, {"name": name.lower(), "timeout": timeout_s}).scalar()
    except OperationalError as error:
        # MySQL and MariaDB. Only a lock was refused: unlike a deadlock of rows, this rolled nothing back.
        if error_number(error) not in (USER_LOCK_DEADLOCK, DEADLOCK):
            raise
        raise LockNotAcquiredError(f"{called} would wait in a circle; repeat the whole unit") from error
    # 0 is a time-out and NULL an error; neither is a lock.
    if answer is None:
        raise LockNotAcquiredError(f"{called} was not to be had: the server broke off waiting; repeat the whole unit")
    if answer != 1:
        raise LockNotAcquiredError(
            f"{called} is held by somebody else; waited {time.monotonic() - asked:.1f} s. Try again later; if nobody "
            f"should hold it, IS_USED_LOCK() of '<hash of the database>:{name}' is the connection that does"
        )


def _release(connection: Connection, lock: InsertLock) -> None:
    """Give the lock back; whatever goes wrong is logged, for the body's own outcome counts."""
    reason: str | int | None
    try:
        released = connection.execute(_RELEASE, {"name": insert_lock_name(lock.advisory_id)}).scalar()
        reason = {0: "held by another connection", None: "held by nobody"}.get(released)
    except Exception as error:
        reason = error_number(error) or type(error).__name__
    if reason is not None:
        lost = {"destination_id": lock.destination_id, "epoch": lock.epoch, "reason": reason}
        logger.warning("insert lock lost before release", extra=lost)


def _log(lock: InsertLock, waited_s: float, held_s: float) -> None:
    took = {"waited_ms": round(waited_s * 1000), "held_ms": round(held_s * 1000)}
    logger.info("insert lock", extra={"destination_id": lock.destination_id, "epoch": lock.epoch, **took})


def _seconds_to_live() -> int:
    """How long the server keeps the idle connection: a frozen Lambda's lock ends, a living one's does not."""
    return math.ceil(min(DAY_S, max(0.0, seconds_left() + MARGIN_S) + GRACE_S))


@lru_cache(maxsize=4)
def _unpooled(url: URL, read_timeout: int | None = None) -> Engine:
    """Opens a connection each time and closes it after use; keeps none."""
    arguments = {**connect_args(), "read_timeout": read_timeout}
    return guarded(create_engine(url, poolclass=NullPool, pool_reset_on_return=None, connect_args=arguments))
