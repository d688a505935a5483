"""A row lock that another transaction holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text
from sqlalchemy.orm import Session

from tests.support.database.counted_database import Database, pay

IMPATIENT = text("SET SESSION innodb_lock_wait_timeout = 1")


@contextmanager
def held(database: Database, account: int) -> Iterator[Session]:
    """Another transaction that holds the account's row."""
    with database.environments(1) as (other,), Session(other) as holder:
        pay(holder, account, 0)
        yield holder
