"""What the server says of itself, and what a measurement changes there for its length."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from benchmarks.database import Database
from benchmarks.errors import BenchmarkError

# What decides how much a COMMIT costs, and how INSERTs get their ids.
DURABILITY = (
    *("innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "innodb_doublewrite"),
    *("innodb_flush_method", "innodb_autoinc_lock_mode"),
)
MEGABYTE = 1 << 20
_POOL = "innodb_buffer_pool_size"
_RESIZED_S = 60.0
_OF_WHICH = ("innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances")


def durability(database: Database) -> dict[str, str | None]:
    """The settings as the server has them; None for one that it does not know."""
    return {name: _variable(database, name) for name in DURABILITY}


def buffer_pool_mb(database: Database) -> int:
    """The size of InnoDB's buffer pool."""
    return int(_variable(database, _POOL) or 0) // MEGABYTE


@contextmanager
def local_infile(database: Database) -> Iterator[None]:
    """For the block, the server takes LOAD DATA LOCAL."""
    was = _variable(database, "local_infile")
    if was != "ON":
        _set(database, "local_infile", 1)
    try:
        yield
    finally:
        if was != "ON":
            _set(database, "local_infile", 0)


@contextmanager
def buffer_pool(database: Database, megabytes: int | None) -> Iterator[None]:
    """For the block, the pool is that large; None leaves it as it is."""
    was = buffer_pool_mb(database)
    if megabytes in (None, was):
        yield
        return
    try:
        _resize(database, megabytes or was)
        yield
    finally:
        _resize(database, was)


def _resize(database: Database, megabytes: int) -> None:
    """Both servers do it in the background, and round up to whole chunks of each of the pool's instances."""
    chunk, instances = (int(_variable(database, name) or 0) for name in _OF_WHICH)
    unit = max(MEGABYTE, chunk * max(1, instances))
    wanted = -(-megabytes * MEGABYTE // unit) * unit // MEGABYTE
    _set(database, _POOL, megabytes * MEGABYTE)
    deadline = time.monotonic() + _RESIZED_S
    while buffer_pool_mb(database) != wanted:
        if time.monotonic() > deadline:
            raise BenchmarkError(f"the server did not resize its buffer pool to {megabytes} MB")
        time.sleep(0.1)


def _variable(database: Database, name: str) -> str | None:
    found = database.query("SHOW GLOBAL VARIABLES WHERE Variable_name = :name", name=name)
    return str(found[0][1]) if found else None


def _set(database: Database, name: str, value: int) -> None:
    try:
        database.query(f"SET GLOBAL {name} = {value}")
    except DBAPIError as exc:
        advice = "have somebody who may do it, or leave --database-url out and measure on a private server"
        raise BenchmarkError(f"SET GLOBAL {name} = {value} was refused ({exc.orig}); {advice}") from exc
