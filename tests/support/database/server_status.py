"""What the database server itself says is going on: who waits, and how many statements it was sent."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any, cast

from sqlalchemy import Connection, text
from sqlalchemy.dialects.mysql.base import MySQLDialect

from tests.support.application.driver import World

# In MariaDB's report of transactions: which one waits for a lock, and on which connection. INNODB_TRX will not do,
# for it is a copy that is renewed only if it was not read for a tenth of a second: three who ask again and again see
# no wait that began after they did.
_WAITS = re.compile(r"^LOCK WAIT .*?thread id (\d+)", re.MULTILINE | re.DOTALL)
_NOW = "LIST OF TRANSACTIONS FOR EACH SESSION"
_OURS = text("SELECT id FROM information_schema.processlist WHERE db = DATABASE()")
# MySQL's report has no transaction that only reads and waits; its processlist fails beside a statement with an emoji.
_MYSQL_WAITS = text(
    "SELECT COUNT(DISTINCT w.requesting_thread_id) FROM performance_schema.data_lock_waits AS w "
    "JOIN performance_schema.threads AS t ON t.thread_id = w.requesting_thread_id WHERE t.processlist_db = DATABASE()"
)
_PAUSE_S = 0.05


def wait_until(happened: Callable[[], Any], what: str, within: float = 120.0) -> None:
    """Ask again and again until it is so; raises AssertionError naming `what` if it never is."""
    deadline = time.monotonic() + within
    while not happened():
        assert time.monotonic() < deadline, f"{what} did not happen within {within} s"
        time.sleep(_PAUSE_S)


def someone_waits(connection: Connection) -> bool:
    """Whether a transaction of this schema waits for a row lock."""
    return count_waiting(connection) > 0


def count_waiting(connection: Connection) -> int:
    """Return how many transactions of this schema wait for a row lock."""
    connection.rollback()
    if not cast(MySQLDialect, connection.dialect).is_mariadb:
        return int(connection.execute(_MYSQL_WAITS).scalar_one())
    report = str(connection.execute(text("SHOW ENGINE INNODB STATUS")).one()[2])
    ours = set(connection.execute(_OURS).scalars())
    return sum(int(each) in ours for each in _WAITS.findall(report.partition(_NOW)[2]))


def statements(world: World, work: Callable[[], object]) -> int:
    """How many statements the server counted for the work, asking left out."""
    # On a new connection, which the pool does not replace for its age meanwhile.
    world.engine.dispose()
    session_statements(world)
    number, first = session_statements(world)
    _, before = session_statements(world)
    work()
    same, after = session_statements(world)
    assert same == number, "another connection was used"
    return (after - before) - (before - first)


def rows_read(world: World, work: Callable[[], object]) -> int:
    """How many rows the server reads for the work, on the pooled connection."""

    def handled() -> int:
        return sum(int(value) for _, value in world.query("SHOW SESSION STATUS LIKE 'Handler_read%'"))

    world.engine.dispose()
    before = handled()
    work()
    return handled() - before


def session_statements(world: World) -> tuple[int, int]:
    """The id of the pooled connection, and how many statements the server has counted on it, this one not counted."""
    with world.engine.connect() as connection:
        number = connection.execute(text("SELECT CONNECTION_ID()")).scalar_one()
        counted = int(connection.execute(text("SHOW SESSION STATUS LIKE 'Questions'")).one()[1])
    return number, counted
