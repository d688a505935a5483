"""MySQL advisory locks (GET_LOCK), each on its own connection; mainly the lock for appending to a destination.

Guaranteed: a lock is held by the server, within this database, and ends with its connection, which is closed after use,
never pooled and never reconnected; waiting for it is bounded; a killed or frozen holder keeps a destination's lock for
at most five seconds longer than its invocation could last.
Not guaranteed: that a lock is still held. Its connection can be lost while the holder runs, and a failover drops all
locks. The lock therefore only makes writers wait their turn; that their rows do not interleave is enforced by the
fencing token in the destination's row, see `shell.utils.append_positions`.
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
from shell.db.connection import connect_args, database_url, lock_database_url
from shell.db.errors import DEADLOCK, error_number
from shell.db.session import add_listeners
from shell.deadline import MARGIN_S, seconds_left
from shell.observability import logger
from shell.utils.append_positions import (
    ROUNDS,
    InsertLock,
    allocate_positions,
    get_or_create_destination,
    issue_fencing_token,
)

__all__ = ["InsertLock", "allocate_positions", "exclusive_connection", "insert_lock_name", "table_insert_lock"]

LONGEST_WAIT_S = 30
GRACE_S = 5
DAY_S = 86_400
USER_LOCK_DEADLOCK = 3058

# A server's lock names are shared by its databases, so they contain a hash of the database. MySQL limits them to 64
# characters and ignores case; MariaDB distinguishes it.
NAME_IN_DATABASE = "CONCAT(LEFT(SHA2(DATABASE(), 256), 32), ':', :name)"
_GET = text(f"SELECT GET_LOCK({NAME_IN_DATABASE}, :timeout)")
_RELEASE = text(f"SELECT RELEASE_LOCK({NAME_IN_DATABASE})")
_SET_IDLE_TIMEOUT = text("SET SESSION wait_timeout = :seconds")

_held: ContextVar[tuple[str, ...]] = ContextVar("held", default=())


@contextmanager
def exclusive_connection(name: str, timeout_s: int) -> Iterator[Connection]:
    """Yield a new connection that holds the advisory lock of that name within this database.

    The lock ends with the connection, which is closed after the block and never pooled. `name` is a constant of at most
    30 lower-case characters. A connection that is lost during a statement leaves the lock with the server until the
    statement ends.
    Raises LockNotAcquiredError if another connection holds the lock for longer than `timeout_s` seconds.
    """
    with _unpooled_engine(lock_database_url()).connect() as connection:
        get_lock(connection, name, timeout_s, f"the lock {name!r}")
        connection.commit()
        yield connection


@contextmanager
def table_insert_lock(destination: str) -> Iterator[InsertLock]:
    """Let only this block append to the destination; other writers of it wait, those of other destinations do not.

    Acquire the lock before the transaction begins and release it after COMMIT, all in one unit of
    `retry_on_db_conflict`:

        @retry_on_db_conflict
        def append(...):
            with table_insert_lock(name) as lock, session() as transaction:
                first = allocate_positions(transaction, lock, len(rows))
                ...

    Use it to append rows to a destination that other writers append to as well; creating a destination, reading it and
    changing existing rows do not need it. Its connection bypasses a proxy, which would pin one of its own for the lock.
    Acquire several locks in the order of their destinations' names.
    Waits at most 30 s, and not past the invocation's deadline. Raises LockNotAcquiredError if that time is over,
    InvalidInputError for a name that cannot be stored exactly, and RuntimeError if a destination of the same or a
    greater name is locked here already, which could deadlock, or if the lock would be released before COMMIT.
    """
    held = _held.get()
    if any(destination <= each for each in held):
        raise RuntimeError("lock a destination once, and several in the order of their names")
    token = _held.set((*held, destination))
    try:
        with _unpooled_engine(lock_database_url()).connect() as connection:
            began = time.monotonic()
            lock = _acquire(connection, destination)
            acquired = time.monotonic()
            try:
                yield lock
                lock.refuse_open_transaction()
            finally:
                _release(connection, lock)
                _log(lock, acquired - began, time.monotonic() - acquired)
    finally:
        _held.reset(token)


def _acquire(connection: Connection, destination: str) -> InsertLock:
    """Acquire the lock and a fencing token greater than any before; create the destination if its row is gone."""
    connection.execute(_SET_IDLE_TIMEOUT, {"seconds": _idle_timeout_s()})
    for _ in range(ROUNDS):
        row = get_or_create_destination(database_url(), destination)
        wait_s = max(0, math.floor(min(LONGEST_WAIT_S, seconds_left())))
        get_lock(connection, insert_lock_name(row.advisory_id), wait_s, f"the insert lock of destination {row.id}")
        fencing_token = issue_fencing_token(connection, row)
        if fencing_token is not None:
            return InsertLock(row.id, row.advisory_id, fencing_token)
        get_or_create_destination.cache_clear()
        connection.execute(_RELEASE, {"name": insert_lock_name(row.advisory_id)})
    raise ConflictError(f"An insert destination was deleted by others {ROUNDS} times; try again.")


def insert_lock_name(advisory_id: int) -> str:
    """Return the name of a destination's lock; all have the same length."""
    return f"insert:{advisory_id:016x}"


def get_lock(connection: Connection, name: str, timeout_s: int, description: str) -> None:
    """Acquire the advisory lock of that name within this database for the connection; wait at most `timeout_s` seconds.

    Raises LockNotAcquiredError, whose message starts with `description`, unless the server confirms the lock.
    """
    began = time.monotonic()
    try:
        result = connection.execute(_GET, {"name": name.lower(), "timeout": timeout_s}).scalar()
    except OperationalError as error:
        # The numbers of MySQL and of MariaDB. Unlike a deadlock on rows, this one rolls nothing back.
        if error_number(error) not in (USER_LOCK_DEADLOCK, DEADLOCK):
            raise
        raise LockNotAcquiredError(f"{description} would deadlock with another lock; retry the whole unit.") from error
    # GET_LOCK returns 1 for a lock, 0 for a timeout, NULL for an error.
    if result is None:
        raise LockNotAcquiredError(f"{description} was not acquired: the server stopped waiting; retry the whole unit.")
    if result != 1:
        raise LockNotAcquiredError(
            f"{description} is held by another connection; waited {time.monotonic() - began:.1f} s. Try again later; "
            f"IS_USED_LOCK('<hash of the database>:{name}') returns the id of the connection that holds it."
        )


def _release(connection: Connection, lock: InsertLock) -> None:
    """Release the lock; a failure is only logged, since the block's own outcome decides."""
    reason: str | int | None
    try:
        released = connection.execute(_RELEASE, {"name": insert_lock_name(lock.advisory_id)}).scalar()
        reason = {0: "held by another connection", None: "not held"}.get(released)
    except Exception as error:
        reason = error_number(error) or type(error).__name__
    if reason is not None:
        lost = {"destination_id": lock.destination_id, "fencing_token": lock.fencing_token, "reason": reason}
        logger.warning("insert lock lost before release", extra=lost)


def _log(lock: InsertLock, waited_s: float, held_s: float) -> None:
    times = {"waited_ms": round(waited_s * 1000), "held_ms": round(held_s * 1000)}
    holder = {"destination_id": lock.destination_id, "fencing_token": lock.fencing_token}
    logger.info("insert lock", extra={**holder, **times})


def _idle_timeout_s() -> int:
    """Return how long the server keeps an idle connection: until this invocation has certainly ended."""
    return math.ceil(min(DAY_S, max(0.0, seconds_left() + MARGIN_S) + GRACE_S))


@lru_cache(maxsize=4)
def _unpooled_engine(url: URL) -> Engine:
    """Return an engine that opens a connection for each use and closes it afterwards."""
    return add_listeners(create_engine(url, poolclass=NullPool, pool_reset_on_return=None, connect_args=connect_args()))
