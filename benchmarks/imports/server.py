"""Settings of the database server, and their changes during a benchmark."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError

from benchmarks.database import Database
from benchmarks.errors import BenchmarkError

# The settings that determine the cost of COMMIT and the allocation of ids.
DURABILITY = (
    *("innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin", "innodb_doublewrite"),
    *("innodb_flush_method", "innodb_autoinc_lock_mode"),
)
MEGABYTE = 1 << 20
_POOL = "innodb_buffer_pool_size"
_RESIZE_TIMEOUT_S = 60.0
_POOL_UNITS = ("innodb_buffer_pool_chunk_size", "innodb_buffer_pool_instances")


def durability(database: Database) -> dict[str, str | None]:
    """Return the settings of DURABILITY; None for one that the server does not have."""
    return {name: _variable(database, name) for name in DURABILITY}


def buffer_pool_mb(database: Database) -> int:
    """Return the size of InnoDB's buffer pool in megabytes."""
    return int(_variable(database, _POOL) or 0) // MEGABYTE


@contextmanager
def local_infile(database: Database) -> Iterator[None]:
    """Enable LOAD DATA LOCAL on the server for the block."""
    previous = _variable(database, "local_infile")
    if previous != "ON":
        _set(database, "local_infile", 1)
    try:
        yield
    finally:
        if previous != "ON":
            _set(database, "local_infile", 0)


@contextmanager
def buffer_pool(database: Database, megabytes: int | None) -> Iterator[None]:
    """Set the size of the buffer pool for the block; None leaves it unchanged."""
    previous = buffer_pool_mb(database)
    if megabytes in (None, previous):
        yield
        return
    try:
        _resize(database, megabytes or previous)
        yield
    finally:
        _resize(database, previous)


def _resize(database: Database, megabytes: int) -> None:
    """Resize the pool and wait: servers resize in the background, to a multiple of chunk size times instances."""
    chunk, instances = (int(_variable(database, name) or 0) for name in _POOL_UNITS)
    unit = max(MEGABYTE, chunk * max(1, instances))
    target = -(-megabytes * MEGABYTE // unit) * unit // MEGABYTE
    _set(database, _POOL, megabytes * MEGABYTE)
    deadline = time.monotonic() + _RESIZE_TIMEOUT_S
    while buffer_pool_mb(database) != target:
        if time.monotonic() > deadline:
            raise BenchmarkError(
                f"the server did not resize its buffer pool to {megabytes} MB within {_RESIZE_TIMEOUT_S:.0f} s"
            )
        time.sleep(0.1)


def _variable(database: Database, name: str) -> str | None:
    found = database.query("SHOW GLOBAL VARIABLES WHERE Variable_name = :name", name=name)
    return str(found[0][1]) if found else None


def _set(database: Database, name: str, value: int) -> None:
    try:
        database.query(f"SET GLOBAL {name} = {value}")
    except DBAPIError as exc:
        advice = "use an account with that privilege, or omit --database-url to use a private server"
        raise BenchmarkError(f"SET GLOBAL {name} = {value} failed ({exc.orig}); {advice}") from exc
