"""Appending to destinations: rows with and without the lock, by threads and by a process, and what came of it."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Event
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, Connection, Engine, event, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from shell.db.retry import retry_on_db_conflict
from shell.db.session import session
from shell.utils.advisory_lock import (
    NAME_IN_DATABASE,
    InsertLock,
    allocate_positions,
    insert_lock_name,
    table_insert_lock,
)
from tests.support.application.handler_processes import PATIENCE_S

# Processes are forked from a server that has imported what this module imports.
from tests.support.database.counted_database import Database, Toys, until

STATEMENTS, ROWS = 5, 10
_FORKS = multiprocessing.get_context("forkserver")
_INSERT = text("INSERT INTO toy_appends (destination_id, batch, position) VALUES (:destination_id, :batch, :position)")
_FREE = text("SELECT COALESCE(MAX(position) + 1, 0) FROM toy_appends WHERE destination_id = :id")


class Executed(NamedTuple):
    """A statement, its parameters and on which connection."""

    statement: str
    parameters: Any
    connection: Connection


class Appends(Toys):
    """What was appended; nothing in the table hinders a position from being taken twice."""

    __tablename__ = "toy_appends"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    destination_id: Mapped[int] = mapped_column(BigInteger, index=True)
    batch: Mapped[int] = mapped_column(BigInteger)
    position: Mapped[int] = mapped_column(BigInteger)


def insert(transaction: Session, destination_id: int, batch: int, first: int, count: int = ROWS) -> None:
    """One statement that inserts so many rows at positions from `first` on."""
    row = {"destination_id": destination_id, "batch": batch}
    transaction.execute(_INSERT, [{**row, "position": first + index} for index in range(count)])


@retry_on_db_conflict
def append(destination: str, batch: int) -> InsertLock:
    """Append a batch in several statements, as an operation does; returns the lock."""
    with table_insert_lock(destination) as lock, session() as transaction:
        first = allocate_positions(transaction, lock, STATEMENTS * ROWS)
        for statement in range(STATEMENTS):
            insert(transaction, lock.destination_id, batch, first + statement * ROWS)
    return lock


def append_all(destination: str, batches: Sequence[int]) -> None:
    """Append batches one after the other."""
    for batch in batches:
        append(destination, batch)


def append_all_without_lock(destination_id: int, batches: Sequence[int], meet: Callable[[], object]) -> None:
    """The negative control takes the first free position it sees; `meet` is called half-way through the first batch."""
    for batch in batches:
        with session() as transaction:
            first = free_position(transaction, destination_id)
            for statement in range(STATEMENTS):
                insert(transaction, destination_id, batch, first + statement * ROWS)
                if batch == batches[0] and statement == 0:
                    meet()


def free_position(transaction: Session, destination_id: int) -> int:
    """The first position that no row has, as far as the transaction can see."""
    return int(transaction.execute(_FREE, {"id": destination_id}).scalar_one())


def lock_of(destination: str) -> InsertLock:
    """Take the lock and give it back."""
    with table_insert_lock(destination) as lock:
        return lock


def runs(database: Database, order: str, destination_id: int) -> int:
    """How many times in that order the batch changes, the first one counted: as many as batches if none mix."""
    rows = database.query(
        f"SELECT batch FROM toy_appends WHERE destination_id = :id ORDER BY {order}", id=destination_id
    )
    return sum(1 for _ in groupby(row.batch for row in rows))


def positions(database: Database, destination_id: int) -> list[int]:
    """All positions of a destination in their order."""
    found = "SELECT position FROM toy_appends WHERE destination_id = :id ORDER BY position"
    return [row.position for row in database.query(found, id=destination_id)]


def holder(database: Database, lock: InsertLock) -> int | None:
    """The connection that holds the lock, as the server says."""
    held = database.scalar(f"SELECT IS_USED_LOCK({NAME_IN_DATABASE})", name=insert_lock_name(lock.advisory_id))
    return None if held is None else int(held)


def kill_holder(database: Database, lock: InsertLock) -> None:
    """End the connection that holds the lock; returns once it holds it no longer."""
    victim = holder(database, lock)
    database.query("KILL :victim", victim=victim)
    until(lambda: holder(database, lock) != victim)


def until_queueing(database: Database, count: int = 1) -> None:
    """Return once so many connections of this database wait for a lock by name."""
    waiting = "SELECT COUNT(*) FROM information_schema.processlist WHERE state = 'User lock' AND db = DATABASE()"
    until(lambda: int(database.scalar(waiting)) >= count)


@contextmanager
def executed() -> Iterator[list[Executed]]:
    """Each statement that this process executes during the block, in any engine."""
    seen: list[Executed] = []

    def note(connection: Connection, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        seen.append(Executed(statement, parameters, connection))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def _hold(environment: Mapping[str, str], destination: str, batch: int, half_way: Event) -> None:
    os.environ.update(environment)
    with table_insert_lock(destination) as lock, session() as transaction:
        insert(transaction, lock.destination_id, batch, allocate_positions(transaction, lock, 2 * ROWS))
        half_way.set()
        _FORKS.Event().wait()


def half_way_process(destination: str, batch: int) -> ForkServerProcess:
    """A process that holds the lock, has inserted half a batch and goes no further; to be killed."""
    half_way = _FORKS.Event()
    process = _FORKS.Process(target=_hold, args=(dict(os.environ), destination, batch, half_way), daemon=True)
    process.start()
    assert half_way.wait(PATIENCE_S), "the holder never came half-way"
    return process
